"""Python values and events as EDN, the text in which histories go to the library (docs/history.md)."""


class Keyword(str):
    """A name that is written with a colon (:read), not in quotes."""
    __slots__ = ()


def _text(s):
    out = ['"']
    for c in s:
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif c == "\r":
            out.append("\\r")
        elif c < " " or c == "\x7f":
            raise ValueError("a value has the control character %r: histories hold printable text" % c)
        else:
            out.append(c)
    out.append('"')
    return "".join(out)


def value(v):
    """EDN of None, bool, int, str, and lists, tuples and sets of them. Anything else has no meaning in a history."""
    if v is None:
        return "nil"
    if v is True:
        return "true"
    if v is False:
        return "false"
    if isinstance(v, Keyword):
        return ":" + v
    if isinstance(v, int):
        return str(int(v))  # also IntEnum
    if isinstance(v, str):
        return _text(v)
    if isinstance(v, (list, tuple)):
        return "[" + " ".join(value(x) for x in v) + "]"
    if isinstance(v, (set, frozenset)):
        return "#{" + " ".join(sorted(value(x) for x in v)) + "}"
    raise TypeError("a value of a history is None, bool, int, str, or a list, tuple or set of these, not %s: %r" %
                    (type(v).__name__, v))
