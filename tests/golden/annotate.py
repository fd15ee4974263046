#!/usr/bin/env python3
"""--annotate shows the source lines of a function or a file with their own figures and those of the functions that they call.
If a source is missing, moved, changed, huge or not text, one line says so. Instructions are shown as with --asm.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
import hostile  # noqa: E402
from output_readers import Callgrind  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
RECORDING = os.path.join(HERE, "scenes", "container.mtr")
SOURCE = "scenes.c"  # source of the recorded program; moved() finds the directory that it was compiled in
LINE = re.compile(r" *([\d,]*) +([\d,]+) +([<\d.]+) % +([\d,]+) +(\d+|-)(?:  (.*))?$")


CODE = re.compile(r" *([\d,]*) +([\d,]+) +([<\d.]+) % +([\d,]+) +([0-9a-f]+)  (.*)$")
RECORDED = os.path.join(HERE, "recorded")
CALLS = os.path.join(RECORDED, "stacks.mtr")  # of grow.elf, which has no debug information


class Annotation:
    def __init__(self, *words, env=None):
        done = subprocess.run([MTREPORT, "-q", *words], capture_output=True, text=True, env=env)
        self.status, self.text, self.said = done.returncode, done.stdout, done.stderr
        found = [LINE.match(line) for line in self.text.splitlines()]
        self.lines = {each[5]: (number(each[1]), number(each[2]), each[6]) for each in found if each}
        found = [CODE.match(line) for line in self.text.splitlines()]
        self.code = {int(each[5], 16): (number(each[1]), number(each[2]), each[6]) for each in found if each}


def number(text):
    return int(text.replace(",", ""))


def moved(folder):
    lines = subprocess.run([MTREPORT, "-q", "--callgrind", "-", RECORDING], capture_output=True, text=True, check=True).stdout
    compiled = re.search(rf"\b(?:fl|fi|fe|cfi)=\(\d+\) (\S*)/{re.escape(SOURCE)}$", lines, re.M)[1]
    return "--source-path", f"{compiled}={folder}"


def check_figures(tap):
    data = subprocess.run([MTREPORT, "-q", "--callgrind", "-", RECORDING], capture_output=True, check=True).stdout
    want = {name: cost for (_, name), cost in Callgrind(data).inclusive().items()}
    for name in ("remember_session", "handle_request", "parse_request"):
        found = Annotation("--annotate", name, RECORDING)
        through = re.search(r": ([\d,]+) of ([\d,]+) count", found.text)
        tap.check(found.lines and number(through[1]) == want[name], f"{name} has the same inclusive figure as --callgrind", found.text)
    words = ("--outstanding", "--annotate", "scenes.c", RECORDING)
    tap.check(": 8,134,656 of " in Annotation(*words).text.splitlines()[0], "--annotate works for any analysis with stacks, by bytes", Annotation(*words).text)
    tap.check("count" in Annotation(*words, "--weight", "count").text.splitlines()[0], "... or by another figure")


def check_own(tap, folder):
    """A function without line numbers has one row. A stack in which a function calls itself counts once."""
    path = os.path.join(folder, "functions.mtr")
    data, stacks = hostile.functions()
    with open(path, "wb") as file:
        file.write(data)
    for name in ("a", "b", "leaf"):
        found = Annotation("--annotate", name, path)
        want = sum(stack[-1] == name for stack in stacks), sum(name in stack for stack in stacks)
        tap.check(found.lines.get("-", ())[:2] == want, f"function {name} counts once per stack", (found.text, want))


def check_names(tap, folder):
    """Functions with a very long name, a name like an id of callgrind, or HTML in the name are found by name and shown as plain text."""
    path = os.path.join(folder, "functions.mtr")
    for name in (hostile.NAMES[4][:hostile.CUT], hostile.NAMES[5], hostile.NAMES[6]):
        for more in ((), ("--asm",)):
            found = Annotation("--annotate", name, *more, path)
            tap.check(found.status == 0 and name in found.text and not re.search("[\x00-\x08\x0b-\x1f\x7f]", found.text),
                      f"{name[:20]} {' '.join(more)} is text", (found.status, found.said, found.text[:500]))
    found = Annotation("--annotate", "\x1b[31m\n<script>", path)
    tap.check(found.status == 4 and "\x1b" not in found.said and found.said.count("\n") == 2, "an unknown name with escape sequences is printed without them", found.said)


def check_sources(tap, folder):
    source = os.path.join(folder, "scenes.c")

    def write(data, mode="wb"):
        with open(source, mode) as file:
            file.write(data)
        os.utime(source, (1e9, 1e9))
        return Annotation("--annotate", "remember_session", *moved(folder), RECORDING)

    found = write(b"".join(b"\tline(%d);\r\n" % n for n in range(1, 300)))
    tap.check(found.lines["76"][2].strip() == "line(76);" and "line(75);" in found.text, "figures are shown next to source lines, with the neighbouring lines",
              found.text)
    tap.check("changed after" not in found.text, "a source that is older than the recording gets no warning", found.text)
    os.utime(source)
    found = Annotation("--annotate", "remember_session", *moved(folder), RECORDING)
    tap.check("changed after it was recorded" in found.text, "a source newer than the recording gets a warning", found.text)
    tap.check("76" in write(b"one line\n").lines, "a line past the end of the source is shown by its number")
    tap.check("not a text file" in write(b"\x7fELF\0\0" * 50).text, "a binary is not shown")
    found = write(b"\x1b[31m\xff" * 100 + b"\n" + b"x" * 1000000 + b"\n")
    tap.check(found.status == 0 and "\x1b" not in found.text and max(map(len, found.text.splitlines())) < 600, "hostile lines are cut, and shown without escape sequences")
    with open(source, "wb") as file:
        file.truncate(1 << 30)
    found = Annotation("--annotate", "remember_session", *moved(folder), RECORDING)
    tap.check("larger than 32 MB" in found.text, "a huge source is not read", found.text)
    os.unlink(source)
    os.mkfifo(source)
    found = Annotation("--annotate", "remember_session", *moved(folder), RECORDING)
    tap.check("not a regular file" in found.text, "a pipe is not waited for", found.text)
    os.unlink(source)
    found = Annotation("--annotate", "remember_session", *moved(folder), RECORDING)
    tap.check("No such file" in found.text and "--source DIR" in found.text and "76" in found.lines,
              "for a missing source, line numbers and a hint are shown", found.text)


def check_source_dir(tap, folder):
    """--source DIR finds a source by the last parts of its name. Symbolic links of another user are not followed."""
    below = os.path.join(folder, "below")
    os.makedirs(below)
    with open(os.path.join(below, "scenes.c"), "w") as file:
        file.write("".join("line(%d);\n" % n for n in range(1, 300)))
    found = Annotation("--annotate", "remember_session", "--source", below, RECORDING)
    tap.check("76" in found.lines and found.lines["76"][2].strip() == "line(76);", "--source finds the source by its name", found.text)
    found = Annotation("--annotate", "remember_session", "--source", os.path.join(folder, "none"), RECORDING)
    tap.check(found.status == 2 and "No such file" in found.said, "a directory that is not there is a usage error", found.said)
    if os.geteuid():
        return
    secret = os.path.join(folder, "secret")
    with open(secret, "w") as file:
        file.write("secret\n" * 300)
    os.chmod(secret, 0o600)
    os.unlink(os.path.join(below, "scenes.c"))
    os.symlink(secret, os.path.join(below, "scenes.c"))
    os.chown(os.path.join(below, "scenes.c"), 65534, 65534, follow_symlinks=False)
    for words in (("--source", below), moved(below)):
        found = Annotation("--annotate", "remember_session", *words, RECORDING)
        tap.check("secret" not in found.text.replace(folder, "") and "76" in found.lines, "another user's link is not followed", found.text)


def disassembled(function):
    """The addresses and mnemonics of the instructions of a function, from objdump."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", os.path.join(RECORDED, "grow.elf")],
                          capture_output=True, text=True, check=True).stdout
    return {int(each[1], 16): each[2] for each in re.finditer(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)}


def check_asm(tap):
    folded = subprocess.run([MTREPORT, "-q", "--symfs", RECORDED, "--folded", CALLS], capture_output=True, text=True, check=True).stdout
    stacks = [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in folded.splitlines()]
    for function in ("heap_grow", "grow_main", "touch"):
        found = Annotation("--symfs", RECORDED, "--annotate", function, "--asm=att", CALLS)
        want, own = disassembled(function), sum(count for names, count in stacks if names[-1] == function)
        shown = {int(each[1], 16): each[2] for each in re.finditer(r" ([0-9a-f]{6,})  (\S+)", found.text)}
        strange = {at: word for at, word in shown.items() if at not in want or word.rstrip("qlbw") != want[at].rstrip("qlbw")}
        tap.check(shown and not strange, f"the instructions of {function} are those that objdump has", (strange, found.text))
        tap.check(sum(each[0] for each in found.code.values()) == own, f"the own figures of {function} add up", (found.text, own))
        callers = {text.split()[0] for alone, _, text in found.code.values() if not alone}
        tap.check(callers <= {"callq", "syscall"}, "a caller's figure is shown at its call instruction", (callers, found.text))
    found = Annotation("--symfs", RECORDED, "--annotate", "heap_grow", "--asm", CALLS)
    tap.check("call    0x40014f <touch>" in found.text and "mov     rdi, rdx" in found.text, "--asm uses Intel syntax and names the called function", found.text)
    by_itself = Annotation("--symfs", RECORDED, "--annotate", "heap_grow", CALLS)
    tap.check(by_itself.code == found.code, "without line numbers, instructions are shown even without --asm", by_itself.text)
    found = Annotation("--annotate", "remember_session", "--asm", RECORDING)
    tap.check(found.status == 0 and ": no code: " in found.text and [each[1] for each in found.code.values()] == [1908], "if the code is not available, one line says so", found.text)


def check_without_decoder(tap, folder):
    """If capstone is missing or is not a valid library, everything but the instructions is shown as usual."""
    for major in range(4, 7):
        open(os.path.join(folder, f"libcapstone.so.{major}"), "w").close()
    env = dict(os.environ, LD_LIBRARY_PATH=folder)
    words = ("--symfs", RECORDED, "--annotate", "heap_grow", "--asm", CALLS)
    found, want = Annotation(*words, env=env), Annotation(*words)
    tap.check(found.status == 0 and re.search(r": no code: libcapstone\.so\.\d, which decodes instructions, cannot be loaded", found.text),
              "a machine without capstone says so", (found.text, found.said))
    tap.check(sum(each[0] for each in found.code.values()) == sum(each[0] for each in want.code.values()), "... with the same sum", found.text)
    words = ("--symfs", RECORDED, "--folded", CALLS)
    tap.check(Annotation(*words, env=env).text == Annotation(*words).text, "... and other outputs do not need it", found.text)


def check_words(tap):
    found = Annotation("--annotate", "nothing_like_it", RECORDING)
    tap.check(found.status == 4 and "no stack has" in found.said, "a name in no stack is an error of one line with exit status 4", found.said)
    for words in (("--annotate",), ("--annotate", ""), ("--annotate", "main", "--source-path", "x"), ("--annotate", "main", "--maps"),
                  ("--folded", "--source-path=a=b"), ("--folded", "--asm"), ("--annotate", "main", "--asm=arm"),
                  ("--annotate", "main", "--asm", "--base-time", "0%-50%")):
        found = Annotation(*words[:2], RECORDING, *words[2:]) if len(words) > 1 else Annotation(*words)
        tap.check(found.status == 2, f"{' '.join(words)} is a usage error", (found.status, found.said))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_figures(tap)
        check_own(tap, folder)
        check_names(tap, folder)
        check_sources(tap, folder)
        check_source_dir(tap, folder)
        check_asm(tap)
        check_without_decoder(tap, folder)
        check_words(tap)
    tap.finish()


main()
