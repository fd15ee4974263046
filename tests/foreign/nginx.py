#!/usr/bin/env python3
"""nginx: clients that do not finish their requests grow the worker by a buffer each; those that do, do not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

import re
import resource
import socket

foreign.needs("nginx", "nginx")
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
BUFFER = 65536
CONFIGURATION = """
user root;
worker_processes 1;
pid {name}.pid;
error_log {name}.error;
events {{ worker_connections 4000; }}
http {{
	access_log off;
	client_header_buffer_size {buffer};
	client_header_timeout 600;
	client_body_temp_path {name}.body; proxy_temp_path {name}.proxy; fastcgi_temp_path {name}.fastcgi;
	uwsgi_temp_path {name}.uwsgi; scgi_temp_path {name}.scgi;
	server {{ listen unix:{name}.sock; location / {{ stub_status; }} }}
}}
"""


def worker_of(master):
    return [int(pid) for pid in foreign.read(f"/proc/{master}/task/{master}/children").split()]


def server(name):
    path = f"{foreign.HERE}/{name}"
    with open(f"{path}.conf", "w", encoding="utf-8") as configuration:
        configuration.write(CONFIGURATION.format(name=path, buffer=BUFFER))
    process = foreign.start("nginx", "-e", f"{path}.error", "-c", f"{path}.conf", "-g", "daemon off;")
    foreign.until(lambda: worker_of(process.pid), "a start of nginx")

    def connect(words):
        client = socket.socket(socket.AF_UNIX)
        client.connect(f"{path}.sock")
        client.sendall(words)
        return client

    def get(_=None):
        with connect(b"GET / HTTP/1.0\r\n\r\n") as client:
            return client.makefile().read()

    def kept():
        return (int(re.search(r"Active connections: (\d+)", get()).group(1)) - 1) * BUFFER
    foreign.until(lambda: os.path.exists(f"{path}.sock"), "a start of nginx")
    return process.pid, worker_of(process.pid)[0], connect, get, kept


waiting = []
master, grown, connect, _, kept = server("grows")
quiet, flat, _, get, held = server("flat")
foreign.Load(lambda i: waiting.append(connect(b"GET /" + b"x" * 60000)), 25)
foreign.Load(get, 25)
foreign.check(
    foreign.Case("nginx grows", grown, "grows", kept, {"vm,rss": r"nginx", "malloc": r"nginx"}, targets=f"{master},{grown}"),
    foreign.Case("nginx answers", flat, "flat", held, targets=f"{quiet},{flat}"))
