#!/usr/bin/env python3
"""redis: values under new keys make it grow, as INFO says; the same keys written again do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

foreign.needs("redis-server", "redis-server")
VALUE = b"v" * 8000


class Client:
    """Talks to one server by its socket."""

    def __init__(self, path):
        self.socket = foreign.connected(path, "a start of redis-server")
        self.replies = self.socket.makefile("rb")

    def call(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        head = self.replies.readline()
        return self.replies.read(int(head[1:]) + 2) if head[:1] == b"$" else head

    def set_many(self, keys):
        self.socket.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(k), k, len(VALUE), VALUE) for k in keys))
        for _ in keys:
            self.replies.readline()


def server(truth):
    """A server to which values are written; the case's process, truth and counter."""
    path = f"{foreign.HERE}/{truth}{len(foreign.children)}.sock"
    process = foreign.start("redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
                            "--dir", foreign.HERE)
    client, info = Client(path), Client(path)

    def used():
        return int(info.call(b"INFO", b"memory").split(b"used_memory:")[1].split()[0])

    def write(i):
        client.set_many([b"key:%08d" % (k if truth == "grows" else k % 400) for k in range(10 * i, 10 * i + 10)])
    if truth == "flat":
        for i in range(40):
            write(i)
    foreign.Load(write, 20)
    return process.pid, truth, used


foreign.check(*[case for event, path in (("vm,rss", r"redis"), ("malloc", r"redis-server: \w+")) for case in (
    foreign.Case("redis grows", event, *server("grows"), path),
    foreign.Case("redis rewrites", event, *server("flat")))])
