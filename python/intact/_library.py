"""libintact by ctypes: the functions of <intact/intact.h> that this package uses, with their types.

The library is looked for in this order: the file that INTACT_LIBRARY names, a file beside this package's installation
prefix, and what the dynamic linker finds as libintact.so.1.
"""
import ctypes
import glob
import os

API_VERSION = 3  # of INTACT_API_VERSION: what is called here is in it

_P = ctypes.c_void_p
_S = ctypes.c_char_p
_N = ctypes.c_size_t
_I = ctypes.c_int
_U = ctypes.c_uint32

_JUDGES = ("history_judge", "trace_judge", "net_judge")
_FUNCTIONS = {
    "intact_api_version": (_I,),
    "intact_version": (_S,),
    "intact_model_new": (_P,),
    "intact_model_free": (None, _P),
    "intact_model_threads": (_I, _P, _S, _U),
    "intact_model_load": (_I, _P, _S),
    "intact_model_load_text": (_I, _P, _S, _S, _N),
    "intact_model_messages": (_S, _P),
    "intact_check_new": (_P,),
    "intact_check_free": (None, _P),
    "intact_check_set": (_I, _P, _S, _S),
    "intact_check_run": (_I, _P, _P, _P),
    "intact_check_messages": (_S, _P),
    "intact_history_judge_text": (_I, _P, _S, _S, _N, _P),
    "intact_document_new": (_P,),
    "intact_document_free": (None, _P),
    "intact_document_load": (_I, _P, _S),
    "intact_document_load_text": (_I, _P, _S, _N),
    "intact_document_messages": (_S, _P),
    "intact_document_kind": (_S, _P),
    "intact_document_verdict": (_I, _P),
    "intact_document_answers": (_N, _P),
    "intact_answer_name": (_S, _P, _N),
    "intact_answer_verdict": (_I, _P, _N),
    "intact_answer_engine": (_S, _P, _N),
    "intact_answer_title": (_S, _P, _N),
    "intact_answer_message": (_S, _P, _N),
    "intact_answer_file": (_S, _P, _N),
    "intact_answer_line": (_U, _P, _N),
    "intact_answer_schedule": (_S, _P, _N),
    "intact_answer_steps": (_N, _P, _N),
    "intact_step_thread": (_S, _P, _N, _N),
    "intact_step_text": (_S, _P, _N, _N),
    "intact_step_line": (_U, _P, _N, _N),
    "intact_document_render": (_P, _P, _I, ctypes.POINTER(_N)),
    "intact_document_verify": (_I, _P, _S, _P),
}
for _judge in _JUDGES:
    _FUNCTIONS["intact_%s_new" % _judge] = (_P,)
    _FUNCTIONS["intact_%s_free" % _judge] = (None, _P)
    _FUNCTIONS["intact_%s_set" % _judge] = (_I, _P, _S, _S)
    _FUNCTIONS["intact_%s_file" % _judge] = (_I, _P, _S, _P)
    _FUNCTIONS["intact_%s_messages" % _judge] = (_S, _P)


def _candidates():
    named = os.environ.get("INTACT_LIBRARY")
    if named:
        return [named]  # and nothing else: what was asked for is what is used
    # PREFIX/lib/python3/dist-packages/intact or PREFIX/lib/python3.N/site-packages/intact
    lib = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    beside = glob.glob(os.path.join(lib, "libintact.so.1")) + glob.glob(os.path.join(lib, "*", "libintact.so.1"))
    return sorted(beside) + ["libintact.so.1"]


def _load():
    reasons = []
    for name in _candidates():
        try:
            lib = ctypes.CDLL(name)
        except OSError as e:
            reasons.append(str(e))
            continue
        for function, types in _FUNCTIONS.items():
            try:
                f = getattr(lib, function)
            except AttributeError:
                raise ImportError("%s has no function %s: it is not the library of Intact, or too old" %
                                  (name, function)) from None
            f.restype, f.argtypes = types[0], types[1:]
        if lib.intact_api_version() < API_VERSION:
            raise ImportError("%s has version %d of the interface; this package needs %d or later" %
                              (name, lib.intact_api_version(), API_VERSION))
        return lib
    raise ImportError("libintact.so.1 cannot be loaded: %s. Install the package libintact1, or name the file in the "
                      "environment variable INTACT_LIBRARY" % "; ".join(reasons))


lib = _load()
