#!/usr/bin/env python3
"""A load for a memcached that is built with intact cc: several clients at once, half of them with the text protocol and
half with the binary one, on the same keys, with all commands that change an item. It is for what the server's own
test suite, one client most of the time, does not reach: that two clients increment a counter that is not there yet.

    memcached_clients.py MEMCACHED [CLIENTS [ROUNDS [SEED]]]      `intact run --json FILE python3 ...` around it

The server has a socket in a folder of its own and is ended with `shutdown`. Each client sends its commands in batches and
reads all answers; what is sent depends on the seed alone.
"""
import os
import random
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading

BATCH = 32
GET, SET, ADD, REPLACE, DELETE, INCR, DECR, APPEND, TOUCH, GAT = 0, 1, 2, 3, 4, 5, 6, 0x0E, 0x1C, 0x1D


def binary(op, key, extras=b"", value=b""):
    return struct.pack(">BBHBBHIIQ", 0x80, op, len(key), len(extras), 0, 0, len(extras) + len(key) + len(value), 0, 0) + extras + key + value


def binary_command(r, key, fresh):
    store = struct.pack(">II", r.randrange(4), r.choice([0, 0, 60]))
    kind = r.randrange(10)
    if kind < 4:  # the counter, made by whoever comes first
        return binary(INCR if kind < 3 else DECR, fresh, struct.pack(">QQI", 1, 5, 0))
    if kind == 4:
        return binary(r.choice([SET, ADD, REPLACE]), key, store, b"%d" % r.randrange(10 ** r.randrange(1, 9)))
    if kind == 5:
        return binary(APPEND, key, b"", b"more")
    if kind == 6:
        return binary(DELETE, r.choice([key, fresh]))
    if kind == 7:
        return binary(TOUCH, key, struct.pack(">I", 60))
    return binary(GAT, key, struct.pack(">I", 60)) if kind == 8 else binary(GET, key)


def text_command(r, key, fresh):
    """A command and the line or lines that its answer ends with."""
    value = b"%d" % r.randrange(10 ** r.randrange(1, 9))
    kind = r.randrange(10)
    if kind < 3:
        return b"%s %s 0 0 %d\r\n%s\r\n" % (r.choice([b"set", b"add", b"replace", b"append"]), key, len(value), value)
    if kind < 5:
        return b"%s %s 1\r\n" % (r.choice([b"incr", b"decr"]), fresh)
    if kind == 5:
        return b"delete %s\r\n" % r.choice([key, fresh])
    if kind == 6:
        return b"touch %s 60\r\n" % key
    if kind == 7 and r.random() < .1:
        return r.choice([b"stats\r\n", b"stats items\r\n", b"stats slabs\r\n"])
    return b"get %s\r\n" % key


class Text:
    def __init__(self, s):
        self.file = s.makefile("rb")

    def answer(self):
        while True:
            line = self.file.readline()
            if not line:
                raise EOFError
            if not line.startswith((b"VALUE ", b"STAT ")):
                return
            if line.startswith(b"VALUE "):
                self.file.read(int(line.split()[3]) + 2)


class Binary:
    def __init__(self, s):
        self.file = s.makefile("rb")

    def answer(self):
        head = self.file.read(24)
        if len(head) < 24 or head[0] != 0x81:
            raise EOFError
        self.file.read(struct.unpack(">I", head[8:12])[0])


def client(path, n, rounds, seed, failed):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        r, reader = random.Random("%d.%d" % (seed, n)), (Binary if n % 2 else Text)(s)
        for at in range(rounds):
            commands = []
            for i in range(BATCH):
                # Counters are new in each round, and the same for all clients.
                key, fresh = b"key%d" % r.randrange(40), b"count%d.%d" % (at, r.randrange(4))
                commands.append((binary_command if n % 2 else text_command)(r, key, fresh))
            s.sendall(b"".join(commands))
            for _ in commands:
                reader.answer()
        s.close()
    except (OSError, EOFError) as e:
        failed.append("client %d: %s" % (n, e or "memcached hung up"))


def main():
    program = os.path.abspath(sys.argv[1])
    clients, rounds, seed = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((2, 6), (3, 200), (4, 1)))
    failed = []
    with tempfile.TemporaryDirectory(prefix="intact-mc-") as tmp:
        path = os.path.join(tmp, "socket")
        server = subprocess.Popen([program, "-A", "-t", "4", "-s", path] + (["-u", "root"] if os.getuid() == 0 else []))
        control = None
        while not control:  # until it listens
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(path)
                control = s
            except (FileNotFoundError, ConnectionRefusedError):
                s.close()
                if server.poll() is not None:
                    sys.exit("memcached ended")
                select.select([], [], [], 0.02)
        all_ = [threading.Thread(target=client, args=(path, n, rounds, seed, failed)) for n in range(clients)]
        for t in all_:
            t.start()
        for t in all_:
            t.join()
        control.sendall(b"shutdown\r\n")
        server.wait()
    for f in failed:
        print(f, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
