#!/usr/bin/env python3
"""A recording that carries only the sampled parts of an image, in several contents (FORMAT.md section 8, bit 5), gives the same reports
as one that carries the whole image. The test seals a recording and splits its skeletons by the rules of the specification."""
import contextlib
import importlib.machinery
import importlib.util
import os
import struct
import subprocess
import sys
import tempfile

TOP = os.environ.get("MT_TOP") or os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("MT_BUILD") or os.path.join(TOP, "build")
MTREPORT, MTDUMP = os.path.join(BUILD, "mtreport"), os.path.join(TOP, "scripts/mtdump")
RECORDED = os.path.join(TOP, "tests/golden/recorded")
HEAD = 64  # bytes of a chunk's header
FILE = 6
SEEN = 32
FILLER = bytes((0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0))  # from the id on
done = []


def module_of(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path), os.path.join(TOP, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


made = module_of("tests/golden/recording/corpus.py")
dump = module_of("scripts/mtdump")


def check(what, good, why=""):
    done.append(good)
    print("".join(f"# {line}\n" for line in ("" if good else str(why)).splitlines()[:40])
          + f"{'ok' if good else 'not ok'} {len(done)} - {what}", flush=True)


# Skeletons ----------------------------------------------------------------------------------------

class Skeleton:
    """An ELF64 file whose bytes can be changed."""

    def __init__(self, data):
        self.data = bytearray(data)
        at, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self.headers = [at + 64 * i for i in range(count)]
        strings = self.section(self.headers[names])[1]
        self.named = {}
        for header in self.headers:
            name, = struct.unpack_from("<I", data, header)
            self.named[data[strings + name:data.index(0, strings + name)].decode()] = header

    def section(self, header):
        """Address, offset and size."""
        return struct.unpack_from("<3Q", self.data, header + 16)

    def has_bytes(self, name):
        return name in self.named and struct.unpack_from("<I", self.data, self.named[name] + 4)[0] != 8

    def entries(self):
        """Yields for each entry of .eh_frame: its place, the next one's place, and an FDE's start (else None)."""
        address, offset, size = self.section(self.named[".eh_frame"])
        at = offset
        while at + 4 <= offset + size:
            length, = struct.unpack_from("<I", self.data, at)
            start = None
            if length and struct.unpack_from("<I", self.data, at + 4)[0]:
                distance, = struct.unpack_from("<i", self.data, at + 8)  # all compilers' encoding
                start = address + at + 8 - offset + distance
            yield at, at + 4 + length, start
            at += 4 + length

    def leave_out_frames(self, left_out):
        gap = end = None
        for at, following, start in [*self.entries(), (None, None, None)]:
            if start is not None and left_out(start):
                gap, end = at if gap is None else gap, following
            elif gap is not None:
                self.data[gap:end] = struct.pack("<I", end - gap - 4) + FILLER + bytes(end - gap - 4 - len(FILLER))
                gap = None

    def leave_out_symbols(self, left_out):
        header = self.named[".symtab"]
        _, offset, size = self.section(header)
        symbols = [bytes(self.data[at:at + 24]) for at in range(offset, offset + size, 24)]
        kept = [s for s in symbols if s == symbols[0] or not left_out(struct.unpack_from("<Q", s, 8)[0])]
        self.data[offset:offset + 24 * len(kept)] = b"".join(kept)
        struct.pack_into("<Q", self.data, header + 32, 24 * len(kept))


def part_of(data, number, count):
    """A skeleton with one of so many parts of the functions."""
    skeleton = Skeleton(data)

    def left_out(address):
        return (address >> 4) * 2654435761 % 4294967296 % count != number
    if skeleton.has_bytes(".eh_frame"):
        skeleton.leave_out_frames(left_out)
    if skeleton.has_bytes(".symtab"):
        skeleton.leave_out_symbols(left_out)
    return bytes(skeleton.data)


# Recordings ---------------------------------------------------------------------------------------

def file_body(fields, content, kept):
    fixed = [fields[name] for name in ("kind", "coding")] + [kept, 0, 1] + [
        fields[name] for name in ("major", "minor", "inode")]
    rest = [value for name, value in fields.items() if name not in (
        "kind", "coding", "kept", "part", "parts", "major", "minor", "inode", "whole_size", "pid", "path", "build_id", "bytes")]
    return (struct.pack("<7IQ", *fixed) + struct.pack(f"<{len(rest)}Q", *rest)
            + struct.pack("<Qi", len(content), fields["pid"]) + made.string(fields["path"]) + made.string(fields["build_id"])
            + made.string(content))


def rewritten(data, change):
    """The recording with other FILE chunks: change(fields) gives (kept, time, content) of those that take one's place."""
    out, sequence, source = b"", 0, dump.Source(data, True)
    for chunk in source.scan():
        payload = source.payload(chunk)
        chunks = [bytes(data[chunk.offset + HEAD:chunk.end])]
        header = dict(codec=chunk.codec, raw_size=chunk.raw, first_time=chunk.first, last_time=chunk.last,
                      stream=chunk.stream, records=chunk.records, flags=chunk.flags)
        if chunk.type == FILE:
            fields = dump.Records(chunk, payload).usable[0].fields
            others = change(fields)
            if others is not None:
                chunks = [made.record(13, file_body(fields, content, kept), time) for kept, time, content in others]
                header = dict(flags=chunk.flags, records=1)
        elif chunk.type == made.END:  # END has the number of bytes before it
            payload = bytearray(payload)
            at = payload.index(struct.pack("<Q", chunk.offset))
            payload[at:at + 8] = struct.pack("<Q", len(out))
            chunks, header = [bytes(payload)], dict(header, codec=0, raw_size=len(payload))
        for stored in chunks:
            out += made.chunk_header(chunk.type, stored, **dict({"raw_size": len(stored)}, **header), sequence=sequence) + stored
            sequence += 1
    return out


def parts_alone(count, only=None):
    """Splits skeletons into so many contents, or keeps one of these."""
    def change(fields):
        if fields["kind"] != 1:
            return None
        return [(fields["kept"] | SEEN, 1 + i, part_of(fields["bytes"], i, count)) for i in range(count) if only in (None, i)]
    return change


def and_whole(fields):
    """A part, and after it the whole skeleton."""
    if fields["kind"] != 1:
        return None
    return [(fields["kept"] | SEEN, 1, part_of(fields["bytes"], 0, 2)), (fields["kept"], 0, fields["bytes"])]


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


def report(*arguments):
    ended = subprocess.run([MTREPORT, "-q", "--no-inline", "--symfs", "nothing", *arguments], capture_output=True, check=False)
    return ended.returncode, ended.stdout.decode(errors="replace")


def check_recording(name):
    subprocess.run([MTREPORT, "-q", "--seal", "whole.mtr", "--symfs", RECORDED, "--kallsyms", f"{RECORDED}/{name}.kallsyms.txt",
                    f"{RECORDED}/{name}.mtr"], check=True)
    with open("whole.mtr", "rb") as file:
        whole = file.read()
    wanted = report("--folded", "whole.mtr")
    check(f"{name}: the whole one has a report", wanted[0] == 0 and len(wanted[1]) > 100, wanted)
    for count in (2, 7):
        put("seen.mtr", rewritten(whole, parts_alone(count)))
        check(f"{name}: {count} parts report as the whole", report("--folded", "seen.mtr") == wanted, report("--folded", "seen.mtr"))
    checked = subprocess.run([MTDUMP, "--check", "seen.mtr"], capture_output=True, check=False)
    check("... which FORMAT.md allows", checked.returncode == 0, checked.stdout.decode())
    said = report("--info", "seen.mtr")[1]
    check("... and --info says so", "carried in the recording, as far as samples show it" in said, said)
    for how in ("--strip", "--seal"):
        with contextlib.suppress(FileNotFoundError):
            os.remove("copy.mtr")
        ended = subprocess.run([MTREPORT, how, "copy.mtr", "--symfs", "nothing", "seen.mtr"], capture_output=True, check=False)
        check(f"... a copy by {how} has all parts", report("--folded", "copy.mtr") == wanted, ended.stderr.decode())
    check("... and nothing was added", b": 0 added, " in ended.stderr, ended.stderr.decode())
    put("one.mtr", rewritten(whole, parts_alone(2, 0)))
    check("a part alone does not say all", report("--folded", "one.mtr") != wanted)
    put("both.mtr", rewritten(whole, and_whole))
    check("a whole one counts before a part", report("--folded", "both.mtr") == wanted)
    check("... and is reported as such", "as far as samples" not in report("--info", "both.mtr")[1])
    put("other.mtr", rewritten(whole, parts_alone(2, 1)))
    both = report("--folded", "one.mtr", "other.mtr")
    check("of two recordings the parts count together", both == report("--folded", "whole.mtr", "whole.mtr"), both)


def check_prefix():
    """Before mtrec carries an image, only the kernel's call chain has the callers of its code."""
    def chain_of(*entries):
        writer = made.begun().chunk(made.STATE, made.task(), made.map_record(), made.map_record(0x600000, 0x700000, "/bin/worker", 3))
        put("cut.mtr", writer.chunk(made.DATA, made.sample(made.FAULTS, 1000, chain=(0x400100, *entries))).data)
        return [line.split()[0] for line in report("--script", "cut.mtr")[1].splitlines()[1:] if line.strip()]

    check("a prefix without the image takes the kernel's chain", chain_of(0x400200, 0x400300) == ["400100", "400200", "400300"])
    check("... up to what is no code", chain_of(0x400200, 0x600300, 0x400300) == ["400100", "400200"])
    check("... where it goes round it has each frame once", chain_of(0x400200, *[0x400300] * 125) == ["400100", "400200", "400300"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("nothing")
        for name in ("stacks", "attached"):
            check_recording(name)
        check_prefix()
    print(f"1..{len(done)}")
    return not all(done)


if __name__ == "__main__":
    sys.exit(main())
