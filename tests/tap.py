"""For test scripts in Python: TAP on stdout, and recordings without losses."""
import os
import subprocess
import sys

TOP = os.environ.get("MT_TOP") or os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
BUILD = os.environ.get("MT_BUILD") or os.path.join(TOP, "build")
ATTEMPTS = 3
NONE_LOST = ", 0 lost -> "


class Tap:
    """Test points in order, and the plan at the end."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, what, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}", flush=True)
        if not good and detail:
            print("".join(f"# {line}\n" for line in str(detail).splitlines()[:40]), end="", flush=True)

    def same(self, got, want, what):
        self.check(got == want, what, f"got  {got}\nwant {want}")

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}", flush=True)

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def skip_all(why):
    """Skips the whole file, because none of its tests can run here."""
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def needs_perf(root=""):
    """Skips the whole file if perf events cannot be opened, or if that needs root."""
    if os.environ.get("MT_NO_PERF"):
        skip_all(os.environ["MT_NO_PERF"])
    if root and os.geteuid():
        skip_all(f"{root} needs root")


def record(*words, before=lambda: None):
    """Runs mtrec with these words, and returns the ended process. If records were lost, it runs mtrec again, at most twice: a busy
    host may not run the drains in time, and figures are exact only without losses. before() is called before each attempt."""
    for _ in range(ATTEMPTS):
        before()
        done = subprocess.run([os.path.join(BUILD, "mtrec"), *words], capture_output=True, text=True, check=False)
        if done.returncode or NONE_LOST in done.stderr:
            break
    return done
