#!/usr/bin/env python3
"""nginx: each client that does not finish its request makes the worker grow by a buffer; clients that finish do not."""
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


def server(truth):
    """A server with clients; the case's worker, truth and counter, and its master."""
    path = f"{foreign.HERE}/{truth}{len(foreign.children)}"
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
    foreign.connected(f"{path}.sock", "a start of nginx").close()
    waiting = []
    foreign.Load(get if truth == "flat" else lambda i: waiting.append(connect(b"GET /" + b"x" * 60000)), 25)
    return (worker_of(process.pid)[0], truth, kept), process.pid


def case(name, event, truth, path=None):
    of_worker, master = server(truth)
    return foreign.Case(name, event, *of_worker, path, parent=master)


foreign.check(*[each for event in foreign.EVENTS for each in (
    case("nginx grows", event, "grows", "nginx"), case("nginx answers", event, "flat"))])
