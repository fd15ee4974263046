#!/usr/bin/env python3
"""Every option that a message, a hint, the manual pages or README.md name is one that the command has, and the commands in NEXT
of a report run."""
import os
import re
import shlex
import subprocess
import sys

top, build = os.environ["MT_TOP"], os.environ["MT_BUILD"]
OPTION = re.compile(r"(?<![\w/.-])--[a-z][a-z-]+")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Of other programs, by the words in front of them.
OTHERS = {
    "--perf-basic-prof", "--perf-prof", "--interpreted-frames-native-stack", "--heapsnapshot-signal",  # node
    "--call-graph", "--no-inline",  # perf's, in tables of what is the same
    "--xtree-memory",  # valgrind
    "--shared", "--static", "--jit", "--no-defaults", "--prefix",
}
results = []


def check(good, what, *why):
    results.append(good)
    print("ok" if good else "not ok", len(results), "-", what)
    if not good:
        for line in why:
            print("#", line)


def options_of(program):
    text = subprocess.run([f"{build}/{program}", "--help", "all"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]+)", text, re.M)), text


def strings_of(path):
    """The string literals of a C file, adjacent ones as one, with the line of the first."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), f.read(), flags=re.S)
    end, joined, start = None, "", 0
    for m in STRING.finditer(text):
        if end is not None and not text[end:m.start()].strip():
            joined += m.group(1)
        else:
            if joined:
                yield text.count("\n", 0, start) + 1, joined
            joined, start = m.group(1), m.start()
        end = m.end()
    if joined:
        yield text.count("\n", 0, start) + 1, joined


def sources(room):
    for folder, _, names in os.walk(f"{top}/{room}"):
        yield from (os.path.join(folder, n) for n in names if n.endswith((".c", ".def")))


def program_before(text, at, default):
    """Whose an option is: the last of our commands named in front of it in the same clause, else the room's own."""
    named = re.findall(r"\b(mtrec|mtreport)\b", re.split(r"[;:()]", text[:at])[-1])
    return named[-1] if named else default


def unknown(text, default):
    for m in OPTION.finditer(text):
        program = program_before(text, m.start(), default)
        if m.group() not in known[program] and m.group() not in OTHERS:
            yield f"{program} {m.group()}"


def unknown_events(text):
    """Of -e LIST of mtrec."""
    for m in re.finditer(r"(?<![\w-])-e ([a-z]\S*?)(?=[\s;:).]|$)", text):
        prose = m.group(1) == "of" or text[m.end():].startswith(":")
        if not prose and program_before(text, m.start(), "mtrec") == "mtrec":
            yield from (word for word in m.group(1).split(",") if word and word not in events)


events = set(re.findall(r"^([\w-]+)", subprocess.run([f"{build}/mtrec", "--list"], capture_output=True, text=True, check=True).stdout,
                        re.M))
known, helps = {}, {}
for name in ("mtrec", "mtreport"):
    known[name], helps[name] = options_of(name)
    check(len(known[name]) > 20, f"{name} --help all has options")

for room, default in (("report", "mtreport"), ("record", "mtrec")):
    wrong = [f"{os.path.relpath(path, top)}:{line}: {option}" for path in sources(room)
             for line, text in strings_of(path) for option in unknown(text, default)]
    check(not wrong, f"messages and hints of {room}/ name options that there are", *wrong)
    wrong = [f"{os.path.relpath(path, top)}:{line}: {event}" for path in sources(room)
             for line, text in strings_of(path) for event in unknown_events(text)]
    check(not wrong, "... and events", *wrong)

for name in ("mtrec", "mtreport"):
    with open(f"{top}/docs/{name}.1", encoding="utf-8") as f:
        lines = f.read().replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "").split("\n")
    either = known["mtrec"] | known["mtreport"] | OTHERS
    # The left column of a table is perf's.
    wrong = [f"{name}.1:{i + 1}: {option}" for i, line in enumerate(lines) if not line.startswith('.\\"')
             for option in OPTION.findall(line.split("\t")[-1]) if option not in either]
    check(not wrong, f"{name}(1) names options that there are", *wrong)

with open(f"{top}/README.md", encoding="utf-8") as f:
    wrong = [o for o in OPTION.findall(f.read()) if o not in known["mtrec"] | known["mtreport"]]
check(not wrong, "README.md names options that there are", *wrong)

# What a screen says to do next is done.
work, recorded, ran, failed = os.environ["TMPDIR"], f"{top}/tests/golden/recorded", 0, []
for file in sorted(n for n in os.listdir(recorded) if n.endswith(".mtr")):
    os.symlink(f"{recorded}/{file}", f"{work}/{file}")
    screen = subprocess.run([f"{build}/mtreport", "-q", file], cwd=work, capture_output=True, text=True, check=True).stdout
    block = re.search(r"^NEXT(.*(?:\n .*)*)", screen, re.M)
    for line in block.group(1).replace("\\\n", "").split("\n") if block else []:
        words = shlex.split(line.split(" > ")[0], comments=True)
        if words[:1] != ["mtreport"]:
            continue
        ran += 1
        status = subprocess.run([f"{build}/mtreport", *words[1:]], cwd=work, capture_output=True, check=False).returncode
        if status:
            failed.append(f"{line.strip()}: exit status {status}")
check(ran > 0, "screens say what to do next")
check(not failed, "... and each command of it runs", *failed)
print(f"1..{len(results)}")
sys.exit(not all(results))
