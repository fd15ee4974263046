"""A recording of the sweep and its reports, each of which is made only once."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../../.."))
MTREPORT = os.path.join(os.environ.get("MT_BUILD") or os.path.join(TOP, "build"), "mtreport")


class Done:
    """The end of a process: status, out and err (bytes)."""

    def __init__(self, words):
        run = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)
        self.status, self.out, self.err = run.returncode, run.stdout, run.stderr

    def text(self):
        return self.out.decode(errors="surrogateescape")

    def said(self):
        return self.err.decode(errors="replace")


class Subject:
    """path: of the recording. want: what the corpus says of it, or None. folder: for the copies of it."""

    def __init__(self, path, folder, want=None):
        self.path, self.folder, self.want, self.reports = path, folder, want, {}
        self.name = os.path.basename(path).partition(".")[0].replace("_", " ")

    def report(self, *words):
        if words not in self.reports:
            self.reports[words] = Done([MTREPORT, *words, self.path])
        return self.reports[words]

    def by_one_worker(self, *words):
        return self.report("-j", "1", *words)

    def named(self, what, path=None):
        """The exit status and the text of a report, without the name of the file."""
        name = re.escape((path or self.path).encode())
        return what.status, re.sub(name, b"FILE", what.out), re.sub(name, b"FILE", what.err)

    def copy(self, *words):
        """A copy that mtreport makes with these words: (the end of the process, the copy)."""
        made = Subject(os.path.join(self.folder, f"copy.{os.getpid()}.mtr"), self.folder)
        if os.path.exists(made.path):
            os.unlink(made.path)
        return Done([MTREPORT, "-q", *words[:1], made.path, *words[1:], self.path]), made
