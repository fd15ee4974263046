"""Builds tests/golden/perfdata/perfdata_dump.c once for a test and gives its lines as dicts."""
import os
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from tap import BUILD, TOP, Tap  # noqa: E402, F401


def build(folder):
    """Builds the program in `folder`, with the libraries of the build and their sanitizers, and returns its path."""
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
    """Returns (exit status, lines as dicts, text on standard error)."""
    run = subprocess.run([program, path, *([str(memory)] if memory else [])], capture_output=True, text=True)
    return run.returncode, [parse(line) for line in run.stdout.splitlines()], run.stderr
