#!/usr/bin/env python3
"""mariadbd: a session that sets new variables makes it grow, as its status says; a session that sets the same ones again does not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import foreign  # noqa: E402

import subprocess

foreign.needs("mariadb-server", "mariadbd", "mariadb-install-db", "mariadb")
CLIENT = ["mariadb", "--no-defaults", "-N", "-B", "-n", "-f", "-u", "root", "-S"]


class Session:
    """A client that is given one statement after the other."""

    def __init__(self, path):
        self.process = foreign.start(*CLIENT, path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, statement):
        self.process.stdin.write(statement.encode() + b";\n")
        self.process.stdin.flush()

    def ask(self, statement):
        self.send(statement)
        return self.process.stdout.readline().decode()


def server(name, grows):
    """A server whose session sets variables; the case's process, truth and counter."""
    path, data = f"{foreign.HERE}/{name}.sock", f"{foreign.HERE}/{name}"
    foreign.build("cp", "-r", "empty", data)
    process = foreign.start("mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={path}", "--skip-networking",
                            "--innodb-buffer-pool-size=16M", f"--pid-file={data}.pid")
    foreign.until(lambda: subprocess.run([*CLIENT, path, "-e", "select 1"], capture_output=True, check=False).returncode == 0,
                  "a start of mariadbd")
    works, status = Session(path), Session(path)

    def used():
        return int(status.ask("show global status like 'Memory_used'").split()[1])

    def set_variable(i):
        works.send(f"set @v{i if grows else i % 50} = repeat(md5({i}), 2000)")
    for i in range(50):
        set_variable(i)
    foreign.Load(lambda i: set_variable(i + 50), 25)
    return process.pid, "grows" if grows else "flat", used


foreign.build("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", f"--datadir={foreign.HERE}/empty",
              "--skip-test-db", "--user=root")
foreign.check(*[case for event, path in (("vm,rss", "mariadbd"), ("malloc", "update_hash")) for case in (
    foreign.Case("mariadb grows", event, *server(f"grows {event}", True), path),
    foreign.Case("mariadb sets again", event, *server(f"flat {event}", False)))])
