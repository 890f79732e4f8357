"""Intact for Python: check models, histories, recorded executions and nets with the engines of `intact`.

    import intact

    result = intact.check("queue.atm", threads={"worker": 3})
    for answer in result.answers:
        print(answer.name, answer.verdict, answer.message)

    result = intact.history(events, object="queue")     # an iterable, a file or a text
    result.assert_holds()                               # raises intact.Violation with the report

    record = intact.Recorder()                          # operations of real threads
    with record.operation("write", 1):
        store.write(1)
    with record.operation("read") as op:
        op.result = store.read()
    intact.history(record, object="register", init=0).assert_holds()

Options are those of the commands with `_` for `-`: intact.history(f, object="register", init=0, timeout=10) is
`intact history --object=register --init=0 --timeout=10 f`. An option that takes no value is given as True.

A verdict is intact.HOLDS, intact.VIOLATED or intact.UNKNOWN. Wrong input raises intact.InputError with the message of the
command: file:line:column, what was expected, a hint. A call into the library cannot be interrupted from the keyboard: set
`timeout`. Other threads run meanwhile.
"""
import os

from . import _edn
from ._edn import Keyword
from ._library import lib as _lib
from .recorder import Recorder, events_text
from .result import (HOLDS, MISUSED, UNKNOWN, VIOLATED, Answer, Error, InputError, InternalError, Result, Step, Verdict,
                     Violation)
from .result import _raise

__all__ = [
    "Answer", "Error", "HOLDS", "InputError", "InternalError", "Keyword", "MISUSED", "Recorder", "Result", "Step", "UNKNOWN",
    "VIOLATED", "Verdict", "Violation", "check", "history", "load", "net", "trace", "verify", "version"
]


def version():
    """The version of the library: "0.1.0"."""
    return _lib.intact_version().decode()


def _set_options(kind, handle, options):
    """Options by name; a list or tuple sets an option several times; None and False leave it unset."""
    set_one = getattr(_lib, "intact_%s_set" % kind)
    messages = getattr(_lib, "intact_%s_messages" % kind)
    for name, given in options.items():
        for v in given if isinstance(given, (list, tuple)) else [given]:
            if v is None or v is False:
                continue
            text = None if v is True else str(v).encode()
            status = set_one(handle, name.replace("_", "-").encode(), text)
            if status:
                _raise(status, messages(handle))


class _Handle:
    """An object of the library, freed at the end of a `with`."""

    def __init__(self, kind):
        self.kind = kind

    def __enter__(self):
        self.handle = getattr(_lib, "intact_%s_new" % self.kind)()
        if not self.handle:
            raise MemoryError("out of memory")
        return self.handle

    def __exit__(self, *_):
        getattr(_lib, "intact_%s_free" % self.kind)(self.handle)


def check(path=None, *, text=None, name=None, threads=None, **options):
    """Checks a model (docs/language.md): a file, or `text` (with `name`, whose suffix .atm or .sml is the language).

    `threads` maps names of threads to their number; 0 or "any": any number of them. Options: engine, block, max_states,
    max_memory, timeout, jobs, condition, assertion, track, abstract; faults, deadlock, reduced (True).
    """
    if (path is None) == (text is None):
        raise TypeError("check() takes a file or text=..., one of them")
    with _Handle("model") as model, _Handle("check") as job:
        for thread, n in (threads or {}).items():
            status = _lib.intact_model_threads(model, thread.encode(), 0 if n == "any" else n)
            if status:
                _raise(status, _lib.intact_model_messages(model))
        if text is not None:
            data = text.encode()
            status = _lib.intact_model_load_text(model, (name or "model.atm").encode(), data, len(data))
        else:
            status = _lib.intact_model_load(model, os.fsencode(path))
        if status:
            _raise(status, _lib.intact_model_messages(model))
        _set_options("check", job, options)
        result = Result._empty(_lib.intact_model_messages(model))
        status = _lib.intact_check_run(job, model, result._handle)
        if status:
            _raise(status, _lib.intact_check_messages(job))
        return result


def _judge(kind, path, options):
    with _Handle(kind) as judge:
        _set_options(kind, judge, options)
        result = Result._empty()
        status = getattr(_lib, "intact_%s_file" % kind)(judge, os.fsencode(path), result._handle)
        messages = getattr(_lib, "intact_%s_messages" % kind)(judge)
        if status:
            _raise(status, messages)
        result.warnings = messages.decode("utf-8", "replace")
        return result


def history(source, *, name=None, **options):
    """Decides whether a history of an object is linearizable, or which isolation level one of transactions meets.

    `source` is a path (str or os.PathLike), a Recorder, or an iterable of events: mappings with "process", "type"
    ("invoke", "ok", "fail", "info"), "f" and "value", or tuples (process, type, f, value). A transaction is an event whose
    value is a list of micro-operations, ("r", key, value), ("w", key, value) or ("append", key, value).

    Options: object, spec, init, condition, k, algorithm, format, order, nil, failed_cas, jobs, timeout, max_memory;
    witness, delta, pairs; for transactions level, version_order, sessions, realtime, keys.
    """
    if isinstance(source, (str, os.PathLike)):
        return _judge("history_judge", source, options)
    data = events_text(source).encode()
    if "init" in options and not isinstance(options["init"], (str, list, tuple, type(None))):
        options["init"] = _edn.value(options["init"])
    with _Handle("history_judge") as judge:
        options.setdefault("format", "edn")
        _set_options("history_judge", judge, options)
        result = Result._empty()
        status = _lib.intact_history_judge_text(judge, (name or "history").encode(), data, len(data), result._handle)
        messages = _lib.intact_history_judge_messages(judge)
        if status:
            _raise(status, messages)
        result.warnings = messages.decode("utf-8", "replace")
        return result


def trace(path, **options):
    """Judges a recorded execution (docs/trace.md): a trace, or a recording of `intact run --record`."""
    return _judge("trace_judge", path, options)


def net(path, **options):
    """Judges a Petri net (PNML, ll_net)."""
    return _judge("net_judge", path, options)


def load(path=None, *, text=None):
    """A result that `intact COMMAND --json` saved: a file, or its text (str or bytes)."""
    if (path is None) == (text is None):
        raise TypeError("load() takes a file or text=..., one of them")
    result = Result._empty()
    if text is not None:
        data = text.encode() if isinstance(text, str) else bytes(text)
        status = _lib.intact_document_load_text(result._handle, data, len(data))
    else:
        status = _lib.intact_document_load(result._handle, os.fsencode(path))
    if status:
        _raise(status, _lib.intact_document_messages(result._handle))
    return result


def verify(result, about=None):
    """Checks a result of check, trace or history (with witness=True) again without the engines that made it.

    `about`: the file that it must be about; None: what the result itself names. Returns a Result of kind "verify".
    """
    answer = Result._empty()
    status = _lib.intact_document_verify(result._handle, None if about is None else os.fsencode(about), answer._handle)
    if status:
        _raise(status, _lib.intact_document_messages(result._handle))
    return answer
