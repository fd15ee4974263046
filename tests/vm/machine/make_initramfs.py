#!/usr/bin/env python3
"""Writes an initramfs (cpio, newc): make_initramfs.py OUT SOURCE[=TARGET]...

Each source is a file or folder, which is put at its target, or else at its own path. Programs are added together with their libraries.
"""
import os
import re
import subprocess
import sys

FOLDERS = ("proc", "sys", "dev", "tmp", "out", "root")
DIRECTORY, REGULAR, DEVICE = 0o040755, 0o100755, 0o020600


class Archive:
    """Builds a cpio archive. A path is added once, after its folders."""

    def __init__(self, out):
        self.out, self.number, self.there = out, 0, set()

    def entry(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        word = name.encode() + b"\0"
        fields = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(word), 0]
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + word
        self.out.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))
        self.there.add(name)

    def folder(self, name):
        if name and name not in self.there:
            self.folder(os.path.dirname(name))
            self.entry(name, DIRECTORY)

    def put(self, source, target):
        target = target.strip("/")
        if os.path.isdir(source):
            for name in sorted(os.listdir(source)):
                if name != "__pycache__":
                    self.put(os.path.join(source, name), os.path.join(target, name))
        elif target not in self.there:
            self.folder(os.path.dirname(target))
            with open(source, "rb") as f:
                data = f.read()
            self.entry(target, REGULAR, data)
            for library in libraries(source) if data[:4] == b"\x7fELF" else ():
                self.put(library, library)


def libraries(program):
    """What it is loaded with, by the paths at which the loader looks."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return re.findall(r"(/\S+) \(0x", listed.stdout)


def main():
    with open(sys.argv[1], "wb") as out:
        archive = Archive(out)
        for name in FOLDERS:
            archive.folder(name)
        archive.entry("dev/console", DEVICE, device=(5, 1))
        for word in sys.argv[2:]:
            source, _, target = word.partition("=")
            archive.put(source, target or source)
        archive.entry("TRAILER!!!", 0)


main()
