//! The part of include/intact that the example uses, as a module: what is declared there, and types that free what they own.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int};

#[repr(C)]
pub struct RawModel {
    _private: [u8; 0],
}
#[repr(C)]
pub struct RawCheck {
    _private: [u8; 0],
}
#[repr(C)]
pub struct RawDocument {
    _private: [u8; 0],
}
#[repr(C)]
pub struct RawHistory {
    _private: [u8; 0],
}
#[repr(C)]
pub struct RawRecorder {
    _private: [u8; 0],
}

#[link(name = "intact")]
extern "C" {
    fn intact_model_new() -> *mut RawModel;
    fn intact_model_free(m: *mut RawModel);
    fn intact_model_load(m: *mut RawModel, path: *const c_char) -> c_int;
    fn intact_model_messages(m: *const RawModel) -> *const c_char;
    fn intact_check_new() -> *mut RawCheck;
    fn intact_check_free(c: *mut RawCheck);
    fn intact_check_set(c: *mut RawCheck, option: *const c_char, value: *const c_char) -> c_int;
    fn intact_check_run(c: *mut RawCheck, m: *const RawModel, d: *mut RawDocument) -> c_int;
    fn intact_check_messages(c: *const RawCheck) -> *const c_char;
    fn intact_document_new() -> *mut RawDocument;
    fn intact_document_free(d: *mut RawDocument);
    fn intact_document_verdict(d: *const RawDocument) -> c_int;
    fn intact_document_answers(d: *const RawDocument) -> usize;
    fn intact_answer_name(d: *const RawDocument, i: usize) -> *const c_char;
    fn intact_answer_verdict(d: *const RawDocument, i: usize) -> c_int;
    fn intact_answer_engine(d: *const RawDocument, i: usize) -> *const c_char;
    fn intact_answer_message(d: *const RawDocument, i: usize) -> *const c_char;
    fn intact_answer_line(d: *const RawDocument, i: usize) -> u32;
    fn intact_answer_schedule(d: *const RawDocument, i: usize) -> *const c_char;
    fn intact_answer_steps(d: *const RawDocument, i: usize) -> usize;
    fn intact_step_thread(d: *const RawDocument, i: usize, step: usize) -> *const c_char;
    fn intact_step_text(d: *const RawDocument, i: usize, step: usize) -> *const c_char;
    fn intact_history_new(object: c_int, initial: i64) -> *mut RawHistory;
    fn intact_history_free(h: *mut RawHistory);
    fn intact_history_recorder(h: *mut RawHistory) -> *mut RawRecorder;
    fn intact_invoke(r: *mut RawRecorder, op: c_int, arg: i64);
    fn intact_return(r: *mut RawRecorder, answer: i64);
    fn intact_return_empty(r: *mut RawRecorder);
    fn intact_history_check(h: *mut RawHistory) -> c_int;
    fn intact_history_report(h: *const RawHistory) -> *const c_char;
}

pub const HOLDS: i32 = 0;
pub const VIOLATED: i32 = 1;
pub const QUEUE: i32 = 5;
pub const ENQUEUE: i32 = 7;
pub const DEQUEUE: i32 = 8;

/// A text of the library: valid until the object is used again, so it is copied.
fn text(s: *const c_char) -> String {
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

fn argument(s: &str) -> CString {
    CString::new(s).expect("a text without NUL")
}

pub struct Document(*mut RawDocument);

pub struct Answer {
    pub name: String,
    pub verdict: i32,
    pub engine: String,
    pub message: String,
    pub line: u32,
    pub schedule: String,
    pub steps: Vec<(String, String)>,
}

/// Checks a model; the error is what the library says about it.
pub fn check(path: &str, options: &[(&str, &str)]) -> Result<Document, String> {
    struct Owned(*mut RawModel, *mut RawCheck);
    impl Drop for Owned {
        fn drop(&mut self) {
            unsafe {
                intact_model_free(self.0);
                intact_check_free(self.1);
            }
        }
    }
    unsafe {
        let (o, d) = (Owned(intact_model_new(), intact_check_new()), Document(intact_document_new()));
        if o.0.is_null() || o.1.is_null() || d.0.is_null() {
            return Err("out of memory".into());
        }
        if intact_model_load(o.0, argument(path).as_ptr()) != 0 {
            return Err(text(intact_model_messages(o.0)));
        }
        for (option, value) in options {
            if intact_check_set(o.1, argument(option).as_ptr(), argument(value).as_ptr()) != 0 {
                return Err(text(intact_check_messages(o.1)));
            }
        }
        if intact_check_run(o.1, o.0, d.0) != 0 {
            return Err(text(intact_check_messages(o.1)));
        }
        Ok(d)
    }
}

impl Document {
    pub fn verdict(&self) -> i32 {
        unsafe { intact_document_verdict(self.0) }
    }

    pub fn answers(&self) -> Vec<Answer> {
        let d = self.0;
        (0..unsafe { intact_document_answers(d) })
            .map(|i| unsafe {
                Answer {
                    name: text(intact_answer_name(d, i)),
                    verdict: intact_answer_verdict(d, i),
                    engine: text(intact_answer_engine(d, i)),
                    message: text(intact_answer_message(d, i)),
                    line: intact_answer_line(d, i),
                    schedule: text(intact_answer_schedule(d, i)),
                    steps: (0..intact_answer_steps(d, i))
                        .map(|k| (text(intact_step_thread(d, i, k)), text(intact_step_text(d, i, k))))
                        .collect(),
                }
            })
            .collect()
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        unsafe { intact_document_free(self.0) }
    }
}

/// A history that threads record, each with a recorder of its own.
pub struct History(*mut RawHistory);
unsafe impl Sync for History {} // any thread may ask for a recorder; checking takes &mut

/// One thread's: it can be sent to a thread, not shared by two.
pub struct Recorder<'a>(*mut RawRecorder, std::marker::PhantomData<&'a History>);
unsafe impl Send for Recorder<'_> {}

impl History {
    pub fn new(object: i32, initial: i64) -> History {
        History(unsafe { intact_history_new(object, initial) })
    }

    pub fn recorder(&self) -> Recorder<'_> {
        Recorder(unsafe { intact_history_recorder(self.0) }, std::marker::PhantomData)
    }

    /// The verdict and its description; no recorder is alive any more.
    pub fn check(&mut self) -> (i32, String) {
        unsafe {
            let verdict = intact_history_check(self.0);
            (verdict, text(intact_history_report(self.0)))
        }
    }
}

impl Drop for History {
    fn drop(&mut self) {
        unsafe { intact_history_free(self.0) }
    }
}

impl Recorder<'_> {
    /// An operation, its argument, what is done; None: there was nothing to take.
    pub fn record(&mut self, op: i32, arg: i64, f: impl FnOnce() -> Option<i64>) {
        unsafe { intact_invoke(self.0, op, arg) };
        match f() {
            Some(v) => unsafe { intact_return(self.0, v) },
            None => unsafe { intact_return_empty(self.0) },
        }
    }
}
