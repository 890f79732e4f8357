#!/usr/bin/env python3
"""A fixed load for a memcached that is built with intact cc, for run_report.py: starts
it with a socket in a folder of its own, sends so many commands over several connections at
once, and ends it with `shutdown`.

    memcached_load.py MEMCACHED [CONNECTIONS [COMMANDS]]
"""
import os
import select
import socket
import subprocess
import sys
import tempfile

BATCH = 200


def batch(n, at):
    """Commands and how many lines they are answered with."""
    text, lines = [], 0
    for i in range(at, at + BATCH):
        key = b"key%d" % (i * 7 % 500)
        kind = (i + n) % 4
        if kind == 0:
            text.append(b"set %s 0 0 5\r\n%05d\r\n" % (key, i % 100000))
            lines += 1
        elif kind == 1:
            text.append(b"incr count 1\r\n")
            lines += 1
        elif kind == 2:
            text.append(b"add %s 0 0 5\r\n%05d\r\n" % (key, i % 100000))
            lines += 1
        else:
            text.append(b"get nothing%d\r\n" % (i % 50))  # END alone
            lines += 1
    return b"".join(text), lines


def answers(s, lines):
    while lines > 0:
        part = s.recv(1 << 16)
        if not part:
            sys.exit("memcached hung up")
        lines -= part.count(b"\n")


def connect(path, server):
    """Waits until the server listens."""
    while True:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(path)
            return s
        except (FileNotFoundError, ConnectionRefusedError):
            s.close()
            if server.poll() is not None:
                sys.exit("memcached ended")
            select.select([], [], [], 0.02)


def main():
    program = os.path.abspath(sys.argv[1])
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    commands = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    with tempfile.TemporaryDirectory(prefix="intact-mc-") as tmp:
        path = os.path.join(tmp, "socket")
        server = subprocess.Popen([program, "-A", "-t", "4", "-s", path] + (["-u", "root"] if os.getuid() == 0 else []))
        all_ = [connect(path, server) for _ in range(connections)]
        all_[0].sendall(b"set count 0 0 1\r\n0\r\n")
        answers(all_[0], 1)
        for at in range(0, commands, BATCH):
            sent = []
            for n, s in enumerate(all_):
                text, lines = batch(n, at)
                s.sendall(text)
                sent.append((s, lines))
            for s, lines in sent:
                answers(s, lines)
        all_[0].sendall(b"shutdown\r\n")
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
