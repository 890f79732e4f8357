"""Results: verdicts, answers, steps, and the exceptions."""
import ctypes
import enum
import json

from ._library import lib as _lib


class Verdict(enum.Enum):
    HOLDS = 0
    VIOLATED = 1
    MISUSED = 2
    UNKNOWN = 3

    def __str__(self):
        return self.name.lower()


HOLDS, VIOLATED, MISUSED, UNKNOWN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.MISUSED, Verdict.UNKNOWN


class Error(Exception):
    """What this package raises."""


class InputError(Error, ValueError):
    """A file, a text or an option is wrong; the text is the command's message."""


class InternalError(Error):
    """A bug in Intact."""


class Violation(Error, AssertionError):
    """What assert_holds raises: `result` is the Result; the text is its report."""

    def __init__(self, result):
        self.result = result
        super().__init__("\n" + result.text.rstrip())


def _raise(status, messages):
    text = (messages or b"").decode("utf-8", "replace").strip()
    if status == 2:
        raise MemoryError(text or "out of memory")
    if status == 3:
        raise InternalError(text or "internal error")
    raise InputError(text or "wrong input")


class Step:
    """A step of a counterexample."""
    __slots__ = ("thread", "text", "line")

    def __init__(self, thread, text, line):
        self.thread, self.text, self.line = thread, text, line

    def __repr__(self):
        return "<Step %s: %s>" % (self.thread, self.text)


class Answer:
    """The answer to one question: a block, the program, an object, a finding."""
    __slots__ = ("name", "verdict", "engine", "title", "message", "file", "line", "schedule", "steps")

    def __repr__(self):
        return "<Answer %s: %s>" % (self.name, self.verdict)


def _answer(handle, i):
    a = Answer()
    for field in ("name", "engine", "title", "message", "file", "schedule"):
        setattr(a, field, getattr(_lib, "intact_answer_" + field)(handle, i).decode("utf-8", "replace"))
    a.verdict = Verdict(_lib.intact_answer_verdict(handle, i))
    a.line = _lib.intact_answer_line(handle, i) or None
    a.steps = [
        Step(
            _lib.intact_step_thread(handle, i, s).decode("utf-8", "replace"),
            _lib.intact_step_text(handle, i, s).decode("utf-8", "replace"),
            _lib.intact_step_line(handle, i, s) or None) for s in range(_lib.intact_answer_steps(handle, i))
    ]
    return a


class Result:
    """The result of a check (docs/json.md). It has no truth value: ask for `verdict`, or call assert_holds()."""
    _FORMATS = {"json": 1, "text": 2, "html": 3, "sarif": 4, "junit": 5, "github": 6, "dot": 7}

    def __init__(self):
        raise TypeError("a Result comes from check(), history(), trace(), net(), load() or verify()")

    @classmethod
    def _empty(cls, warnings=b""):
        self = object.__new__(cls)
        self._handle = _lib.intact_document_new()
        if not self._handle:
            raise MemoryError("out of memory")
        self.warnings = (warnings or b"").decode("utf-8", "replace")
        return self

    def __del__(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and _lib is not None:
            _lib.intact_document_free(handle)

    def __bool__(self):
        raise TypeError("unknown is neither true nor false: compare result.verdict, or call result.assert_holds()")

    def __repr__(self):
        return "<intact.Result of %s: %s>" % (self.kind or "nothing", self.verdict)

    @property
    def kind(self):
        """ "check", "history", "trace", ... """
        return _lib.intact_document_kind(self._handle).decode()

    @property
    def verdict(self):
        """Of all answers together: one violation is enough, then one unknown."""
        return Verdict(_lib.intact_document_verdict(self._handle))

    @property
    def answers(self):
        return [_answer(self._handle, i) for i in range(_lib.intact_document_answers(self._handle))]

    def render(self, format):
        """The document as `intact report` prints it: "json", "text", "html", "sarif", "junit", "github" or "dot"."""
        if format not in self._FORMATS:
            raise ValueError("no format %r: one of %s" % (format, ", ".join(self._FORMATS)))
        n = ctypes.c_size_t()
        p = _lib.intact_document_render(self._handle, self._FORMATS[format], ctypes.byref(n))
        if not p:
            raise InputError(_lib.intact_document_messages(self._handle).decode("utf-8", "replace").strip() or
                             "this result cannot be rendered as %s" % format)
        return ctypes.string_at(p, n.value).decode("utf-8", "replace")

    @property
    def text(self):
        return self.render("text")

    @property
    def document(self):
        """The JSON document, parsed."""
        return json.loads(self.render("json"))

    def save(self, path, format=None):
        """Writes the result; the format is that of the suffix (.json, .txt, .html, .sarif, .xml) unless given."""
        suffix = {"json": "json", "txt": "text", "html": "html", "sarif": "sarif", "xml": "junit", "dot": "dot"}
        format = format or suffix.get(str(path).rpartition(".")[2])
        if not format:
            raise ValueError("%s: the format is not known by the suffix; give format=" % path)
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.render(format))

    def assert_holds(self):
        """Returns the result when it holds; raises Violation with the report otherwise, also when it is unknown."""
        if self.verdict is not HOLDS:
            raise Violation(self)
        return self
