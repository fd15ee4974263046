#!/usr/bin/env python3
"""If a program or its debug file is damaged, only names are lost: mtreport prints the report, the frames are [dso] or names, and if
names are missing, a line says the file and the reason."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ.get("MT_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MTREPORT = os.path.join(os.environ.get("MT_BUILD", os.path.join(TOP, "build")), "mtreport")
TRIES = 200 if os.environ.get("MT_TESTS") == "long" else 60
WHOLE = "worker;caller;grow;fill 20"
FRAME = re.compile(r"[^\0-\x1f;]+")


def run(folder, *options):
    """Exit status, stdout and stderr; status None after 20 s."""
    try:
        done = subprocess.run([MTREPORT, *options, "program.mtr"], capture_output=True, timeout=20, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        return None, "", "still running after 20 s"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def complaint(folder):
    """Returns the fault of mtreport's answer, or None."""
    status, out, err = run(folder, "--folded", "--debug-dir", "debug")
    if status != 0:
        return f"exit status {status}: {err[-600:]}"
    lines = err.splitlines()
    if not all(line.startswith("mtreport: ") for line in lines):
        return f"stderr: {err[:300]}"
    stacks = out.splitlines()
    if not stacks or sum(int(s.rpartition(" ")[2]) for s in stacks) != 20:
        return f"not 20 samples: {out[:300]}"
    for stack in stacks:
        frames = stack.rpartition(" ")[0].split(";")
        if frames[0] != "worker" or not all(FRAME.fullmatch(frame) for frame in frames):
            return f"no frames: {stack[:300]}"
        if "[libprogram.so]" in frames and not any("libprogram.so" in line for line in lines):
            return f"names are missing and no line reports that: {stack} {err[:300]}"
    return None


def flip(data, chosen):
    """Some bytes changed, often where it hurts: in the headers."""
    data = bytearray(data)
    for _ in range(chosen.choice((1, 1, 4, 32))):
        data[chosen.randrange(64 if chosen.random() < 0.2 else len(data))] = chosen.choice((0, 255, chosen.randrange(256)))
    return bytes(data)


def spoil(data, chosen):
    how = chosen.randrange(8)
    if how == 0:
        return data[:chosen.randrange(len(data))]
    if how == 1:
        at = chosen.randrange(len(data))
        return data[:at] + bytes(chosen.randrange(1, 400)) + data[at:]
    if how == 2:
        at, size = chosen.randrange(len(data)), chosen.randrange(1, 600)
        return data[:at] + chosen.randbytes(len(data[at:at + size])) + data[at + size:]
    return flip(data, chosen)


def damage(name, folder, path):
    """One test: TRIES damaged forms of the file at path."""
    with open(path, "rb") as file:
        whole = file.read()
    chosen, bad, kept = random.Random(5), [], 0
    for i in range(TRIES):
        # a new file each time: files that mtreport maps must not change
        os.unlink(path)
        with open(path, "wb") as file:
            file.write(spoil(whole, chosen))
        wrong = complaint(folder)
        if wrong:
            bad.append(f"# {i}: {wrong}")
            shutil.copy(path, os.path.join(os.environ.get("MT_KEEP", folder), f"bad{i}"))
    with open(path, "wb") as file:
        file.write(whole)
    print("\n".join(bad[:10]) + ("\n" if bad else "") + ("not ok" if bad else "ok") + f" - {name}")
    return not bad


def link(folder, *names):
    """The program as in a package: stripped, with a debug file that is found by build id or by name."""
    subprocess.run(["objcopy", "--only-keep-debug", "whole.so", "program.debug"], cwd=folder, check=True)
    subprocess.run(["strip", *names, "-o", "libprogram.so", "whole.so"], cwd=folder, check=True)
    notes = subprocess.run(["readelf", "-nW", "whole.so"], cwd=folder, capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    place = os.path.join(folder, "debug", ".build-id", build_id[:2])
    os.makedirs(place)
    return shutil.move(os.path.join(folder, "program.debug"), os.path.join(place, build_id[2:] + ".debug"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        if os.uname().machine != "x86_64" or not all(map(shutil.which, ("readelf", "objcopy", "strip"))):
            print("1..0 # SKIP made for x86-64 with binutils")
            return 0
        subprocess.run([sys.executable, os.path.join(TOP, "tests/workloads/made_program.py"), folder], check=True)
        os.mkdir(os.path.join(folder, "debug"))
        right = run(folder, "--folded")[1].strip() == WHOLE
        print(("ok" if right else "not ok") + " - whole, it gives names")
        good = [right, damage(f"a program, {TRIES} times", folder, os.path.join(folder, "libprogram.so"))]
        os.rename(os.path.join(folder, "libprogram.so"), os.path.join(folder, "whole.so"))
        good.append(damage(f"its debug file, {TRIES} times", folder, link(folder)))
        print("1..3")
        return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
