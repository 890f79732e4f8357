//! The library from Rust: checks a model, or records what threads do to a queue and asks whether it was linearizable.
//!
//!     rustc --edition 2021 -O main.rs -o example $(pkg-config --libs-only-L intact)
//!     ./example check ../../lost-update.atm    verdicts, and the run of each that is violated
//!     ./example queue                    one dequeue after the other
//!     ./example queue twice              two dequeues are made to overlap: both take the same element
//!
//! Exit code: 0 holds, 1 violated, 2 wrong input, 3 unknown.
mod intact;

use std::collections::VecDeque;
use std::process::exit;
use std::sync::{Barrier, Mutex};

// ---- models ----

fn check_model(path: &str) -> i32 {
    let document = match intact::check(path, &[("max-states", "1000000")]) {
        Ok(d) => d,
        Err(why) => {
            eprint!("{why}");
            return 2;
        }
    };
    for a in document.answers() {
        let word = match a.verdict {
            intact::HOLDS => "holds",
            intact::VIOLATED => "VIOLATED",
            _ => "unknown",
        };
        println!("{}: {} ({})", a.name, word, a.engine);
        if a.verdict != intact::VIOLATED {
            continue;
        }
        println!("  line {}: {}", a.line, a.message);
        for (thread, step) in &a.steps {
            println!("  {thread:<20} {step}");
        }
        println!("  schedule: {}", a.schedule);
    }
    document.verdict()
}

// ---- a queue, and what is seen of it ----

/// Not linearizable: dequeue looks and takes in two critical sections.
struct Queue(Mutex<VecDeque<i64>>);

impl Queue {
    fn enqueue(&self, v: i64) {
        self.0.lock().unwrap().push_back(v);
    }

    fn dequeue(&self, gap: impl FnOnce()) -> Option<i64> {
        let v = *self.0.lock().unwrap().front()?;
        gap();
        self.0.lock().unwrap().pop_front();
        Some(v)
    }
}

fn check_queue(twice: bool) -> i32 {
    let mut history = intact::History::new(intact::QUEUE, 0);
    let queue = Queue(Mutex::new(VecDeque::new()));
    let mut first = history.recorder();
    for v in 1..=3 {
        first.record(intact::ENQUEUE, v, || {
            queue.enqueue(v);
            Some(0)
        });
    }
    let both = Barrier::new(2);
    let one = || {
        history.recorder().record(intact::DEQUEUE, 0, || {
            queue.dequeue(|| {
                if twice {
                    both.wait(); // neither takes before both have looked
                }
            })
        })
    };
    if twice {
        std::thread::scope(|s| {
            s.spawn(one);
            s.spawn(one);
        });
    } else {
        one();
        one();
    }
    let (verdict, report) = history.check();
    print!("{report}");
    verdict
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    exit(match words[..] {
        ["check", path] => check_model(path),
        ["queue"] => check_queue(false),
        ["queue", "twice"] => check_queue(true),
        _ => {
            eprintln!("usage: example check MODEL | example queue [twice]");
            2
        }
    });
}
