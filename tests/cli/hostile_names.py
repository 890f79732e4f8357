"""Two hundred names that want to be more than names."""
import random


def hostile_names(count=200, seed=7):
    fixed = [
        "<script>window.pwned=1</script>", "</script><script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>",
        "\"><svg onload=window.pwned=1>", "'><iframe srcdoc='<script>parent.pwned=1</script>'>", "</style><script>window.pwned=1</script>",
        "</title><script>window.pwned=1</script>", "<!--<script>", "-->", "<![CDATA[", "]]>", "&lt;script&gt;", "&#60;b&#62;", "<b>bold</b>",
        "javascript:window.pwned=1", "data:text/html,<script>1</script>", "{{constructor.constructor('window.pwned=1')()}}", "${window.pwned=1}",
        "__proto__", "constructor", "hasOwnProperty", "toString", "valueOf", "prototype", "length", "undefined", "NaN",
        "\u202etxt.exe", "a\u202eb\u202cc", "\u2066isolate\u2069", "\u200bzero\u200bwidth", "\ufeffbom", "soft\u00adhyphen", "line\u2028sep\u2029par",
        "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "bell\x07", "back\x08space", "\x7fdelete", "\x9b31m", "\x85next", "tab\there", "new\nline", "carriage\rreturn",
        "::error file=x::injected", "%0A::error::injected", "::set-output name=x::y", "a::b", "a,b=c:d", "percent%25", "\\u003cscript\\u003e",
        "'; DROP TABLE results; --", "$(touch /tmp/pwned)", "`touch /tmp/pwned`", "; rm -rf /", "| cat", "&& true", "a b", " leading", "trailing ",
        "\"", "'", "\\", "/", "..", "../../etc/passwd", "//host/share", "C:\\x", "http://example.com/?a=b#c", "a#b", "a?b", "a%2Fb",
        "x" * 10000, "<i>" * 3334, "é" * 5000, "\u0301" * 2000, "𝕬" * 2500, "🧨", "日本語の名前", "עברית", "العربية", "Ωmega", "ﷺ", "\U0001F468\u200d\U0001F469",
        "<a href='x'>", "onclick=window.pwned=1", "<math><mtext></math>", "<template><script>", "<base href=//x>", "<meta http-equiv=refresh content=0>",
        "<link rel=stylesheet href=//x>", "<object data=x>", "<embed src=x>", "<video src=x onerror=window.pwned=1>", "style=behavior:url(x)", "@import '//x'",
        "null", "true", "0", "-1", "1e999", "[]", "{}", "\"}", "//", "/*", "*/", "#", "%s%n%n", "%p", "\ud7ff", "\uffff", "\ufffe", "\U0010ffff",
    ]
    rng = random.Random(seed)
    parts = ["<", ">", "&", "\"", "'", "`", "\\", "/", "script", "\u202e", "\u2028", "\x01", "\x1b[", "%", "\n", ":", ",", "é", "🧨", "img onerror=", "{{", "$("]
    names = list(fixed)
    while len(names) < count:
        names.append("n" + "".join(rng.choice(parts) for _ in range(rng.randrange(1, 12))))
    return names[:count]
