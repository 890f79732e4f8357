"""client: a small client of the Language Server Protocol, for the tests: one session with `intact lsp` over pipes."""
import json
import os
import queue
import subprocess
import threading


class Ended(Exception):
    """The server closed its output."""


class Error(Exception):
    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.message = error.get("code"), error.get("message", "")


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Client:
    def __init__(self, intact, *options, env=None):
        full = dict(os.environ, **(env or {}))
        self.process = subprocess.Popen([str(intact), "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=full)
        self.last, self.notes, self.asked = 0, [], []
        self.queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    # ---- the stream ----
    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    self.queue.put(None)
                    return
                if line == b"\r\n":
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.queue.put(json.loads(out.read(length)))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(frame(message))

    def receive(self, timeout=120):
        """The next message."""
        message = self.queue.get(timeout=timeout)
        if message is None:
            self.queue.put(None)
            raise Ended()
        if "method" in message:
            (self.asked if "id" in message else self.notes).append(message)
            if "id" in message:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        return message

    # ---- calls ----
    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def start(self, method, params=None):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}})
        return self.last

    def answer(self, number, timeout=120):
        """The answer to a request; what else arrives is kept."""
        while True:
            m = self.receive(timeout)
            if "method" not in m and m.get("id") == number:
                if "error" in m:
                    raise Error(m["error"])
                return m["result"]

    def call(self, method, params=None, timeout=120):
        return self.answer(self.start(method, params), timeout)

    def fails(self, method, params=None):
        """The error that a request must end with."""
        try:
            got = self.call(method, params)
        except Error as e:
            return e
        raise AssertionError(f"{method} was answered: {got}")

    def initialize(self, **capabilities):
        everything = {"window": {"showDocument": {"support": True}},
                      "workspace": {"codeLens": {"refreshSupport": True}},
                      "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]},
                                       "documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
        result = self.call("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities or everything})
        self.notify("initialized")
        return result

    def end(self):
        """shutdown, exit; the exit code."""
        self.call("shutdown")
        self.notify("exit")
        code = self.process.wait(timeout=60)
        self.close()
        return code

    def close(self):
        for f in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                f.close()
            except (OSError, ValueError):
                pass
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    # ---- files ----
    def open(self, uri, text, version=1, language="intact-atm"):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, *changes):
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def diagnostics(self, uri, version=None, timeout=120):
        """The diagnostics that were published last for this version of the file."""
        while True:
            for m in reversed(self.notes):
                p = m["params"]
                if m["method"] == "textDocument/publishDiagnostics" and p["uri"] == uri and version in (None, p.get("version")):
                    self.notes = [n for n in self.notes if n["method"] != m["method"] or n["params"]["uri"] != uri]
                    return p["diagnostics"]
            self.receive(timeout)

    def at(self, method, uri, line, character, **more):
        return self.call("textDocument/" + method, {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})


def units(s):
    """The length of a string in UTF-16 code units."""
    return len(s.encode("utf-16-le")) // 2


def position(text, index):
    """The position of a character of the text: the naive twin of the server's."""
    line, start, i = 0, 0, 0
    while i < index:
        if text[i] == "\n" or (text[i] == "\r" and text[i + 1:i + 2] != "\n"):
            line, start = line + 1, i + 1
        i += 1
    return {"line": line, "character": units(text[start:index])}


def word(text, name, nth=0):
    """The position inside of the nth occurrence of a word."""
    index = -1
    for _ in range(nth + 1):
        index = text.index(name, index + 1)
    return position(text, index)
