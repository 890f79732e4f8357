"""Histories from Python: events as EDN, and a recorder for threads and tasks."""
import contextlib
import itertools
import threading

from . import _edn

_TYPES = ("invoke", "ok", "fail", "info")
_MOPS = ("r", "w", "append")


def _mops(v):
    """Is v a list of micro-operations? Their names become keywords."""
    if not isinstance(v, (list, tuple)) or not v:
        return None
    for m in v:
        if not isinstance(m, (list, tuple)) or len(m) != 3 or m[0] not in _MOPS:
            return None
    return [[_edn.Keyword(m[0]), m[1], m[2]] for m in v]


def _event(e, i):
    try:
        if hasattr(e, "keys"):
            process, kind, f, value = e.get("process"), e["type"], e["f"], e.get("value")
        else:
            process, kind, f, value = e
    except (KeyError, TypeError, ValueError):
        raise ValueError('event %d: expected a mapping with "type" and "f", or a tuple (process, type, f, value): %r' %
                         (i, e)) from None
    if kind not in _TYPES:
        raise ValueError("event %d: type %r is none of %s" % (i, kind, ", ".join(_TYPES)))
    if not isinstance(f, str) or not f or not all(c.isalnum() or c in "-_?!*" for c in f):
        raise ValueError("event %d: %r is not the name of an operation" % (i, f))
    out = ["{"]
    if process is not None:
        out.append(":process %s, " % _edn.value(process))
    mops = _mops(value)
    try:
        text = _edn.value(value if mops is None else mops)
    except (TypeError, ValueError) as err:
        raise type(err)("event %d: %s" % (i, err)) from None
    out.append(":type :%s, :f :%s, :value %s}\n" % (kind, f, text))
    return "".join(out)


def events_text(events):
    """The EDN text of an iterable of events."""
    return "".join(_event(e, i) for i, e in enumerate(events))


class Operation:
    """An operation that is under way. Set `result` to what it returned; see Recorder.operation."""
    __slots__ = ("result", "_end")

    def __init__(self):
        self.result = None
        self._end = "ok"

    def failed(self):
        """It did not take place (the queue was full, the compare-and-set did not match)."""
        self._end = "fail"

    def unknown(self):
        """Nobody knows whether it took place (a time-out)."""
        self._end = "info"


class Recorder:
    """Records operations of threads (or asyncio tasks) as a history.

        with record.operation("dequeue") as op:
            op.result = queue.get()

    An operation whose body raises has an unknown outcome: it may have taken place or not. The event before the body is
    recorded before it begins, the one after it when it has ended, so real time is right whatever the threads do.
    A process is a thread unless `process` is given; one that had an operation of unknown outcome gets a new number, since it
    may still be under way.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._events = []
        self._numbers = itertools.count()
        self._process = {}
        self._open = set()

    def _enter(self, key, f, value):
        with self._lock:
            if key in self._open:
                raise RuntimeError("%r: this process has an operation under way; give each task its own process=" % f)
            self._open.add(key)
            if key not in self._process:
                self._process[key] = next(self._numbers)
            process = self._process[key]
            self._events.append({"process": process, "type": "invoke", "f": f, "value": value})
            return process

    def _leave(self, key, process, kind, f, value):
        with self._lock:
            self._open.discard(key)
            if kind == "info":
                del self._process[key]
            self._events.append({"process": process, "type": kind, "f": f, "value": value})

    @contextlib.contextmanager
    def operation(self, f, value=None, *, process=None):
        """`f` is the operation's name, `value` its argument; what it returned is the `result` of what this yields."""
        _event((0, "invoke", f, value), 0)  # wrong values are refused here, not when the history is checked
        key = ("thread", threading.get_ident()) if process is None else ("process", process)
        number = self._enter(key, f, value)
        op = Operation()
        kind, result = "info", value
        try:
            yield op
            kind = op._end
            if kind == "ok" and op.result is not None:
                _event((0, "ok", f, op.result), 0)
                result = op.result
        except BaseException:
            kind, result = "info", value
            raise
        finally:
            self._leave(key, number, kind, f, result)

    def call(self, f, function, *args, process=None):
        """Records function(*args): its arguments are the value (one: itself, several: a list), its return the result."""
        value = None if not args else args[0] if len(args) == 1 else list(args)
        with self.operation(f, value, process=process) as op:
            op.result = function(*args)
            return op.result

    @contextlib.contextmanager
    def transaction(self, *, process=None):
        """A transaction: append ("r", key, value), ("w", key, value), ("append", key, value) to the list that it yields.

        A body that ends commits; a body that raises leaves the outcome unknown, unless it raises Recorder.Aborted.
        """
        key = ("thread", threading.get_ident()) if process is None else ("process", process)
        number = self._enter(key, "txn", None)
        mops, kind = [], "info"
        try:
            yield mops
            _event((0, "ok", "txn", mops), 0)
            kind = "ok"
        except Recorder.Aborted:
            kind = "fail"
        finally:
            done = list(mops)
            with self._lock:  # the invocation holds what was tried, without what was read
                for e in reversed(self._events):
                    if e["process"] == number and e["type"] == "invoke":
                        e["value"] = [(m[0], m[1], None if m[0] == "r" else m[2]) for m in done]
                        break
            self._leave(key, number, kind, "txn", done)

    class Aborted(Exception):
        """Raised in a transaction's body: it was rolled back. It goes no further."""

    def __iter__(self):
        with self._lock:
            return iter(list(self._events))

    def __len__(self):
        return len(self._events)

    def edn(self):
        """The history as text, for a file that `intact history` reads."""
        return events_text(self)
