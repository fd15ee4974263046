#!/usr/bin/env python3
"""Writes a recording whose functions have names with a meaning in HTML or scripts, and their program, for --symfs:
tests/browser/pages/odd_names.py FOLDER writes FOLDER/names.mtr and FOLDER/symfs/bin/odd.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden", "recording"))
import corpus as make  # noqa: E402

MAPPED = 0x900000
NAMES = ["<script>window.ran=1</script>", "'/><image href='x' onerror='window.ran=1'/>", "a;b]]>&amp;c", "bad\udcffutf8", "L" * 10000]


def program(folder):
    """Assembles functions of these names, 16 bytes each; the first one's offset in the file."""
    path = os.path.join(folder, "symfs", "bin", "odd")
    os.makedirs(os.path.dirname(path))
    lines = [f'.globl "{name}"\n.type "{name}", @function\n.size "{name}", 16\n"{name}":\n.fill 16, 1, 0x90\n' for name in NAMES]
    source = ".text\n.globl _start\n_start:\n.balign 16\n" + "".join(lines)
    subprocess.run(["cc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", path],
                   input=source.encode(errors="surrogateescape"), check=True)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"\.text +PROGBITS +[0-9a-f]+ ([0-9a-f]+)", sections)[1], 16)


def recording(offset):
    writer = make.state(make.begun())
    writer.chunk(make.DATA, make.mapped(1101, MAPPED, 0x10000, b"/bin/odd", 5), stream=0)
    for at in range(len(NAMES)):
        places = [MAPPED + offset + 16 * at + 8, MAPPED + offset + 8]
        writer.chunk(make.DATA, make.frames(make.FAULTS, 1200 + at, places, (0, 0)), stream=0)
    return make.ended(writer, len(NAMES))


with open(os.path.join(sys.argv[1], "names.mtr"), "wb") as file:
    file.write(recording(program(sys.argv[1])))
