#!/usr/bin/env python3
"""mtreport --kernel-memory: what each tracepoint of the kernel's allocators allocates and frees, on synthetic recordings."""
import csv
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks  # noqa: E402
import corpus as make  # noqa: E402
import resident as made  # noqa: E402
from perfdata_tool import Tap  # noqa: E402

LINE = "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:0;\n"


def form(*fields):
    return "name: x\nID: 900\nformat:\n" + "".join(LINE % field for field in fields)


PTR = ("const void * ptr", 16, 8)
SIZES = ("size_t bytes_req", 24, 8), ("size_t bytes_alloc", 32, 8)
CACHE = ("__data_loc char[] name", 24, 4), ("size_t bytes_req", 32, 8), ("size_t bytes_alloc", 40, 8)
KMALLOC, CACHED, KFREE, CACHE_FREE, PAGE_ALLOC, PAGE_FREE, PER_CPU, PER_CPU_FREE = range(60, 68)
EVENTS = (
    (KMALLOC, 0, "kmem:kmalloc", (PTR, *SIZES)), (CACHED, 0, "kmem:kmem_cache_alloc", (PTR, *CACHE)),
    (KFREE, 1, "kmem:kfree", (PTR,)), (CACHE_FREE, 1, "kmem:kmem_cache_free/ptr != 0/", (PTR,)),
    (PAGE_ALLOC, 0, "kmem:mm_page_alloc", (("unsigned long pfn", 8, 8), ("unsigned int order", 16, 4))),
    (PAGE_FREE, 1, "kmem:mm_page_free", (("unsigned long pfn", 8, 8), ("unsigned int order", 16, 4))),
    (PER_CPU, 0, "percpu:percpu_alloc_percpu", (("size_t size", 24, 8), ("void * ptr", 56, 8), ("size_t bytes_alloc", 64, 8))),
    (PER_CPU_FREE, 1, "percpu:percpu_free_percpu", (("void * ptr", 24, 8),)),
)
KINDS = b"".join(make.event(index, role, name, name, make.attr(2, 900 + index, made.MARK_TYPE), form=form(*fields), klass=1)
                 for index, role, name, fields in EVENTS)


def at(event, time, data, tid=100):
    return made.sample(event, time, tid, made.raw(data))


def kmalloc(time, ptr, asked, usable, **more):
    return at(KMALLOC, time, struct.pack("<5Q", 0, 0, ptr, asked, usable), **more)


def cached(time, ptr, size, name=b"dentry", place=None):
    place = (len(name) + 1) << 16 | 48 if place is None else place
    return at(CACHED, time, struct.pack("<QQQIIQQ", 0, 0, ptr, place, 0, size, size) + name + b"\0")


def free(event, time, ptr, **more):
    return at(event, time, struct.pack("<QQQ", 0, 0, ptr), **more)


def page(event, time, pfn, order=0):
    return at(event, time, struct.pack("<QQII", 0, pfn, order, 0))


def per_cpu(time, ptr, size, usable):
    return at(PER_CPU, time, struct.pack("<9Q", 0, 0, 0, size, 0, 0, 0, ptr, usable))


A, B = 0xffff888000001000, 0xffff888000002000


def cases():
    """name, records, {cache: (bytes, objects, asked)}"""
    yield "kmalloc holds", kmalloc(1000, A, 20, 32), {"kmalloc": (32, 1, 20)}
    yield "... until kfree, by any thread", kmalloc(1000, A, 20, 32) + free(KFREE, 1010, A, tid=101), {}
    yield "objects go by their cache's name", cached(1000, A, 192) + cached(1001, B, 64, b"filp"), {
        "dentry": (192, 1, 192), "filp": (64, 1, 64)}
    yield "... and are freed through a filtered event", cached(1000, A, 192) + free(CACHE_FREE, 1010, A), {}
    yield "kfree frees an object of a cache", cached(1000, A, 192) + free(KFREE, 1010, A), {}
    yield "pages by their order", page(PAGE_ALLOC, 1000, 77, 3), {"pages": (32768, 1, 32768)}
    yield "... until they are freed", page(PAGE_ALLOC, 1000, 77, 3) + page(PAGE_FREE, 1001, 77, 3), {}
    yield "... none where there was none", page(PAGE_ALLOC, 1000, (1 << 64) - 1), {}
    yield "a page's number is no address", page(PAGE_ALLOC, 1000, A) + free(KFREE, 1001, A), {"pages": (4096, 1, 4096)}
    yield "memory of each CPU", per_cpu(1000, A, 20, 40), {"percpu": (40, 1, 20)}
    yield "one thread that gets an address again has one object", kmalloc(1000, A, 20, 32) + kmalloc(1002, A, 50, 64), {
        "kmalloc": (64, 1, 50)}
    yield "kfree of nothing", free(KFREE, 1000, 0) + kmalloc(1001, A, 20, 32), {"kmalloc": (32, 1, 20)}
    yield "a name beyond the record", cached(1000, A, 192, place=200 << 16 | 48), {"": (192, 1, 192)}
    yield "a name without an end", cached(1000, A, 192, place=4 << 16 | 48), {"dent": (192, 1, 192)}
    yield "an absurd order", page(PAGE_ALLOC, 1000, 77, 63), {"pages": (4096, 1, 4096)}


def run(folder, records, *options, kinds=KINDS):
    path = os.path.join(folder, "made.mtr")
    with open(path, "wb") as f:
        f.write(blocks.recording(records, kinds=kinds))
    return blocks.subprocess.run([os.path.join(blocks.BUILD, "mtreport"), "--kernel-memory", *options, path],
                                 capture_output=True, text=True)


def sampled(tap, folder):
    """Of 4,096 objects at equal distances, the recording has those that rule 7 of FORMAT.md chooses, and two others."""
    def chosen(address):
        return all(bin(address & mask).count("1") % 2 for mask in (0x2041100, 0x484200))

    every = [A + 192 * i for i in range(4096)]
    some = [address for address in every if chosen(address)] + [address for address in every if not chosen(address)][:2]
    events = b"".join(make.event(index, role, name, name, make.attr(2, 900 + index, made.MARK_TYPE), form=form(*fields), klass=1,
                                 account="objects one-in=4" if index in (KMALLOC, KFREE) else None)
                      for index, role, name, fields in EVENTS)
    records = b"".join(kmalloc(1000 + i, address, 20, 32) for i, address in enumerate(some))
    done = run(folder, records + free(KFREE, 9000, every[0] - 192), "--by", "kind", "--csv", kinds=events)
    row = next(csv.DictReader(done.stdout.splitlines()))
    tap.check(int(row["objects"]) == 4 * (len(some) - 2) and float(row["objects_low"]) <= 4096 <= float(row["objects_high"]),
              "each sampled object counts as N, and the interval holds the truth", done.stdout)
    tap.check("not seen allocated" not in done.stderr and "1 in 4 blocks" in done.stderr, "... which is said", done.stderr)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name, records, want in cases():
            done = run(folder, records, "--by", "kind", "--csv")
            got = {row["kind"]: tuple(int(row[figure]) for figure in ("bytes", "objects", "asked"))
                   for row in csv.DictReader(done.stdout.splitlines())}
            tap.check(got == want, name, f"got {got}, want {want}; {done.stderr}")
        done = run(folder, kmalloc(1000, A, 20, 32) + free(KFREE, 2000, A), "--at", f"@{1500 * make.US}", "--by", "kind", "--csv")
        tap.check("kmalloc,32" in done.stdout, "--at shows an earlier moment", done.stdout + done.stderr)
        done = run(folder, free(KFREE, 1000, A) + free(KFREE, 1001, A))
        tap.check("2 blocks freed but not seen allocated" in done.stderr, "objects given in bulk have no event", done.stderr)
        sampled(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
