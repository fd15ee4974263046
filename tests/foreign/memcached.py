#!/usr/bin/env python3
"""memcached: new keys make it grow up to its limit, as its stats say. A full cache does not grow, and writing the same keys
again does not make it grow."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

import socket

foreign.needs("memcached", "memcached")
VALUE = b"v" * 8000


def talk(path, request, end):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(request)
        reply = b""
        while not reply.endswith(end):
            reply += s.recv(65536)
    return reply


def server(truth, megabytes, keys, per_second):
    """A server to which values are written; the case's process, truth and counter."""
    path = f"{foreign.HERE}/{truth}{len(foreign.children)}.sock"
    process = foreign.start("memcached", "-u", "root", "-s", path, "-m", str(megabytes), "-t", "2")
    client = foreign.connected(path, "a start of memcached")

    def write(i):
        for k in range(10):
            client.sendall(b"set key:%08d 0 0 %d\r\n%s\r\n" % ((i * 10 + k) % keys, len(VALUE), VALUE))
            client.recv(100)

    def kept():
        stats = talk(path, b"stats slabs\r\n", b"END\r\n")
        return int(stats.split(b"STAT total_malloced ")[1].split()[0])
    if truth == "flat":
        for i in range(40):
            write(i)
    foreign.Load(write, per_second)
    return process.pid, truth, kept


MANY = 1 << 40
foreign.check(*[case for event in foreign.EVENTS for case in (
    foreign.Case("memcached grows", event, *server("grows", 256, MANY, 20), "memcached"),
    foreign.Case("memcached fills up", event, *server("filled", 12, MANY, 40)),
    foreign.Case("memcached rewrites", event, *server("flat", 256, 400, 20)))])
