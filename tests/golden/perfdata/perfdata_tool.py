"""Builds tests/golden/perfdata/perfdata_dump.c once for a test and gives its lines as dicts."""
import os
import re
import subprocess
import sys
import urllib.parse

TOP = os.environ.get("MT_TOP") or os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
BUILD = os.environ.get("MT_BUILD", os.path.join(TOP, "build"))


class Tap:
    """Test points in order, and the plan at the end."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, what, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}")
        if not good and detail:
            print("".join(f"# {line}\n" for line in str(detail).splitlines()[:20]), end="")

    def same(self, got, want, what):
        self.check(got == want, what, f"got  {got}\nwant {want}")

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}")

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def build(folder):
    """The path of the program, made in folder with the libraries of the build and their sanitizers."""
    out = os.path.join(folder, "perfdata_dump")
    with open(os.path.join(BUILD, "flags"), encoding="utf-8") as f:
        flags = f.read()
    sanitizers = re.findall(r"-fsanitize=\S+", flags)[:1]
    compiler = flags.split()[:1] if sanitizers else os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-pthread", f"-I{TOP}", *sanitizers,
                    os.path.join(TOP, "tests/golden/perfdata/perfdata_dump.c"), os.path.join(BUILD, "lib/libformats.a"),
                    *re.findall(r" (-l\S+)", flags), "-o", out], check=True)
    return out


def value_of(text):
    if text.lstrip("-").isdigit():
        return int(text)
    return urllib.parse.unquote_to_bytes(text).decode(errors="replace") if "%" in text else text


def parse(line):
    words = line.split(" ")
    fields = {"": words[0]}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        fields[key] = (value if key == "build_id" else value_of(value)) if equals else True
    return fields


def dump(program, path, memory=0):
    """(exit status, lines as dicts, what was said on standard error)."""
    run = subprocess.run([program, path, *([str(memory)] if memory else [])], capture_output=True, text=True)
    return run.returncode, [parse(line) for line in run.stdout.splitlines()], run.stderr
