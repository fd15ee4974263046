#!/usr/bin/env python3
"""The ledger: effects of each system call on an address space, including failed calls, and effects of a loss on the figures. For each
rule there is a small synthetic recording."""
import csv
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import corpus as make  # noqa: E402
import resident as made  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

made.CALLS.update({"brk": (38, 12), "mprotect": (40, 10), "shmat": (42, 30), "shmdt": (44, 67)})
call, forked, ended, execed = made.call, made.forked, made.ended, made.execed
NEWTASK, LOCK = 50, 52
NEWTASK_FORMAT = ("name: task_newtask\nID: 650\nformat:\n\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                  "\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n")
PAGE = 4096
A = 0x7f0000000000  # a region of 64 pages, mapped before
PRIVATE, SHARED, FIXED, ANON, GROWSDOWN, STACK, HUGE = 2, 1, 0x10, 0x20, 0x100, 0x20000, 0x40000
NOREPLACE = 0x100000 | FIXED
NONE = (1 << 64) - 1
MAYMOVE, MFIXED, DONTUNMAP = 1, 2, 4
ENOMEM, EACCES, EBADF, ENODEV, EINVAL, EFAULT = -12, -13, -9, -19, -22, -14
MMAP_DATA = 1 << 13
DONTFORK = 10
VM = 0x100


def at(page):
    return A + page * PAGE


def mmap(time, page, pages, prot=3, flags=PRIVATE | ANON, result=None, fd=NONE, offset=0, **more):
    return call("mmap", time, at(page) if result is None else result, at(page), pages * PAGE, prot, flags, fd, offset, **more)


def munmap(time, page, pages, result=0, **more):
    return call("munmap", time, result, at(page), pages * PAGE, **more)


def mremap(time, page, pages, new, to=None, flags=MAYMOVE, result=None, **more):
    goal = page if to is None else to
    return call("mremap", time, at(goal) if result is None else result, at(page), pages * PAGE, new * PAGE, flags,
                at(goal), **more)


def mapped(time, start, pages, name, prot=3, flags=PRIVATE, offset=0, inode=4242, pid=100, misc=make.MISC_USER):
    body = struct.pack("<IIQQQIIQQII", pid, pid, start, pages * PAGE, offset, 8, 1, inode, 7, prot, flags)
    return make.kernel(make.SIDEBAND, make.perf_record(
        make.MMAP2, body + make.pad(name + b"\0") + make.sample_id(time, pid, pid), misc), time)


def anonymous(time, page, pages, prot=3, pid=100):
    """A record of private anonymous memory, for recordings that include data mappings."""
    return mapped(time, at(page), pages, b"//anon", prot, inode=0, pid=pid, misc=make.MISC_USER | MMAP_DATA)


def lock(time, mm=7, tid=100):
    return made.sample(LOCK, time, tid, made.raw(struct.pack("<QQQBB", 0, mm, 1, 1, 1)))


def newtask(time, child, flags, tid=100):
    return made.sample(NEWTASK, time, tid, made.raw(struct.pack("<QiI16xQ", 0, child, 0, flags)))


def reread(time, *lines, took=5):
    """Another reading of /proc/PID/maps, in one piece."""
    out = b""
    for start, pages, prot in lines:
        out += make.record(make.R_REREAD, struct.pack("<iIIIIQQQQQQ", 100, prot, 2, 0, 0, 0, start, start + pages * PAGE, 0,
                                                      (time - took) * make.US, time * make.US) + make.string(""), time)
    return out


def recording(records, seeds=None, later=b"", lost=b"", threads=(101,), kernel="6.1.0", marks=(), calls=None, kinds=b""):
    """marks: calls that were recorded without samples; calls: only these were recorded; kinds: other EVENTs."""
    described = [make.info("kernel", kernel), kinds]
    for name, (index, _) in made.CALLS.items():
        if calls is not None and name not in calls:
            continue
        described.append(make.event(index, int(name in marks), "syscalls:sys_exit_" + name, name,
                                    make.attr(2, 700 + index, made.EXIT_TYPE), pair=index + 1))
        described.append(make.event(index + 1, 1, "syscalls:sys_enter_" + name, name,
                                    make.attr(2, 701 + index, made.MARK_TYPE), pair=index))
    described.append(make.event(NEWTASK, 1, "task:task_newtask", "task:task_newtask", make.attr(2, 650, made.MARK_TYPE),
                                form=NEWTASK_FORMAT))
    described.append(make.event(LOCK, 1, "mmap_lock:mmap_lock_acquire_returned", "mmap_lock:mmap_lock_acquire_returned",
                                make.attr(2, 675, made.MARK_TYPE)))
    writer = make.begun(b"".join(described))
    writer.chunk(make.STATE, make.task(), *[make.task(tid=tid, comm="thread") for tid in threads],
                 seeds if seeds is not None else make.map_record(A, at(64), "", 3))
    writer.chunk(make.DATA, records)
    if later or lost:
        writer.chunk(make.STATE, later, lost)
    return make.ended(writer, 0)


def run(folder, data, *options):
    path = os.path.join(folder, "made.mtr")
    with open(path, "wb") as f:
        f.write(data)
    return subprocess.run([os.path.join(BUILD, "mtreport"), *options, path], capture_output=True, text=True)


def rows(folder, data, *options):
    done = run(folder, data, "-q", "--csv", *options)
    return list(csv.DictReader(done.stdout.splitlines())) if not done.returncode else [{"error": done.stderr}]


def lasting(folder, data, pid=100):
    """Returns (regions that remain, regions in doubt): from page, to page of A, protection, kind[, offset in pages]."""
    regions, doubts = [], []
    for row in rows(folder, data, "--maps"):
        if "error" in row:
            return row["error"], []
        start, end = ((int(row[key], 16) - A) // PAGE for key in ("start", "end"))
        if int(row["pid"]) != pid or start < -4096 or start > 1 << 20:
            continue
        if row["perms"] == "????":
            doubts.append((start, end))
            continue
        what = (row["perms"], row["kind"])
        if int(row["inode"]):
            what += (int(row["offset"], 16) // PAGE - start,)
        if regions and regions[-1][1] == start and regions[-1][2:] == what:
            regions[-1] = (regions[-1][0], end) + what
        else:
            regions.append((start, end) + what)
    return [(start, end) + what[:2] + ((what[2] + start,) if what[2:] else ())
            for start, end, *what in map(lambda r: (r[0], r[1], *r[2:]), regions) for what in [tuple(what)]], doubts


RW, ALL = "rw-p", [(0, 64, "rw-p", "anon")]


def mappings():
    yield "mmap", mmap(1000, 100, 8), ALL + [(100, 108, RW, "anon")], []
    yield "mmap of a part of a page", call("mmap", 1000, at(100), 0, 100, 3, PRIVATE | ANON, NONE, 0), ALL + [
        (100, 101, RW, "anon")], []
    yield "mmap with MAP_FIXED replaces what is there", mmap(1000, 10, 4, 1, PRIVATE | ANON | FIXED), [
        (0, 10, RW, "anon"), (10, 14, "r--p", "anon"), (14, 64, RW, "anon")], []
    yield "mmap of a file: name, inode and offset from the record inside the call", mmap(
        1000, 100, 8, 5, PRIVATE, fd=3, offset=3 * PAGE, inside=mapped(1004, at(96), 12, b"/lib/x.so", 5)), ALL + [
            (100, 108, "r-xp", "file", 3)], []
    yield "... shared", mmap(1000, 100, 8, 3, SHARED, fd=3, inside=mapped(1004, at(100), 8, b"/data", 3, 1)), ALL + [
        (100, 108, "rw-s", "file", 0)], []
    yield "shared anonymous memory", mmap(1000, 100, 8, 3, SHARED | ANON, inside=mapped(1004, at(100), 8, b"/dev/zero (deleted)", 3, 1)), \
        ALL + [(100, 108, "rw-s", "shm", 0)], []
    yield "a thread's stack", mmap(1000, 100, 8, 3, PRIVATE | ANON | STACK), ALL + [(100, 108, RW, "thread stack")], []
    yield "huge pages: the length is that of whole ones", call("mmap", 1000, at(512), 0, PAGE, 3, PRIVATE | ANON | HUGE, NONE, 0), \
        ALL + [(512, 1024, RW, "huge")], []
    yield "... of 1 GiB where the flags say so", call(
        "mmap", 1000, at(1 << 18), 0, PAGE, 3, PRIVATE | ANON | HUGE | 30 << 26, NONE, 0), ALL + [
            (1 << 18, 2 << 18, RW, "huge")], []
    yield "... mremap rounds as well", call("mmap", 1000, at(512), 0, PAGE, 3, PRIVATE | ANON | HUGE, NONE, 0) + call(
        "mremap", 1020, at(2048), at(512), PAGE, 600 * PAGE, MAYMOVE, 0), ALL + [(2048, 3072, RW, "huge")], []
    yield "a file of huge pages is mapped in whole ones", mmap(
        1000, 512, 1, 3, SHARED, fd=3, inside=mapped(1004, at(512), 512, b"/dev/hugepages/x", 3, 1)), ALL + [
            (512, 1024, "rw-s", "file", 0)], []
    yield "mmap that fails does nothing", mmap(1000, 10, 4, result=ENOMEM), ALL, []
    yield "... but with MAP_FIXED what was there may be gone", mmap(
        1000, 10, 4, 3, PRIVATE | FIXED, result=ENODEV, fd=3), ALL, [(10, 14)]
    reported = mmap(900, 100, 1, inside=anonymous(905, 100, 1)) + munmap(950, 100, 1)
    yield "... but not if it was refused before it had the lock", reported + mmap(
        1000, 10, 4, 3, PRIVATE | FIXED, result=ENODEV, fd=3), ALL, []
    yield "... and if it had that", reported + mmap(1000, 10, 4, 3, PRIVATE | FIXED, result=ENODEV, fd=3, inside=lock(1003)), ALL, [
        (10, 14)]
    yield "... not where the file was refused", mmap(1000, 10, 4, 3, PRIVATE | FIXED, result=EBADF, fd=3), ALL, []
    yield "... nor with MAP_FIXED_NOREPLACE", mmap(1000, 10, 4, 3, PRIVATE | ANON | NOREPLACE, result=-17), ALL, []
    yield "munmap cuts a hole", munmap(1000, 10, 4), [(0, 10, RW, "anon"), (14, 64, RW, "anon")], []
    yield "... over several regions and holes", mmap(1000, 100, 8) + munmap(1020, 60, 44), [
        (0, 60, RW, "anon"), (104, 108, RW, "anon")], []
    yield "... of whole pages", call("munmap", 1000, 0, at(10), 100), [(0, 10, RW, "anon"), (11, 64, RW, "anon")], []
    yield "... that fails does nothing", munmap(1000, 10, 4, EINVAL), ALL, []


def moves():
    yield "mremap grows in place", mremap(1000, 32, 32, 64), [(0, 96, RW, "anon")], []
    yield "... shrinks in place", mremap(1000, 32, 32, 8), [(0, 40, RW, "anon")], []
    yield "... moves", mremap(1000, 8, 8, 8, 200), [(0, 8, RW, "anon"), (16, 64, RW, "anon"), (200, 208, RW, "anon")], []
    yield "... moves and grows", mremap(1000, 8, 8, 16, 200), [
        (0, 8, RW, "anon"), (16, 64, RW, "anon"), (200, 216, RW, "anon")], []
    yield "... moves and shrinks", mremap(1000, 8, 8, 4, 200, MAYMOVE | MFIXED), [
        (0, 8, RW, "anon"), (16, 64, RW, "anon"), (200, 204, RW, "anon")], []
    yield "... onto what is there", mremap(1000, 0, 8, 8, 32, MAYMOVE | MFIXED), [(8, 64, RW, "anon")], []
    yield "... of old size 0 maps shared memory again", mmap(
        1000, 100, 8, 3, SHARED | ANON, inside=mapped(1004, at(100), 8, b"/dev/zero (deleted)", 3, 1)) + mremap(
            1020, 102, 0, 4, 200), ALL + [(100, 108, "rw-s", "shm", 0), (200, 204, "rw-s", "shm", 2)], []
    yield "... with DONTUNMAP leaves the old range mapped", mremap(1000, 8, 8, 8, 200, MAYMOVE | DONTUNMAP), ALL + [
        (200, 208, RW, "anon")], []
    yield "... over several regions moves each", mmap(1000, 64, 4, 1) + mremap(1020, 60, 8, 8, 200, MAYMOVE | MFIXED), [
        (0, 60, RW, "anon"), (200, 204, RW, "anon"), (204, 208, "r--p", "anon")], []
    yield "... that fails does nothing", mremap(1000, 8, 8, 16, 200, MAYMOVE, ENOMEM), ALL, []
    yield "... but to a fixed place may have done a part", mremap(1000, 8, 8, 16, 200, MAYMOVE | MFIXED, ENOMEM), ALL, [
        (8, 16), (200, 216)]
    yield "... where EINVAL, too, may come after that", mremap(1000, 8, 8, 8, 200, MAYMOVE | MFIXED, EINVAL), ALL, [
        (8, 16), (200, 208)]
    yield "... but not where the ranges overlap", mremap(1000, 8, 8, 8, 12, MAYMOVE | MFIXED, EINVAL), ALL, []
    yield "... nor where there is nothing to move to", mremap(1000, 8, 8, 0, 200, MAYMOVE | MFIXED, EINVAL), ALL, []
    yield "offsets in a file move along", mmap(
        1000, 100, 8, 5, PRIVATE, fd=3, offset=PAGE, inside=mapped(1004, at(100), 8, b"/lib/x.so", 5, offset=PAGE)) + mremap(
            1020, 104, 4, 4, 200), ALL + [(100, 104, "r-xp", "file", 1), (200, 204, "r-xp", "file", 5)], []


def refused_moves():
    """Linux 6.17 checks the moved range first."""
    def fixed(time, page, pages, new, to):
        return mremap(time, page, pages, new, to, MAYMOVE | MFIXED, EFAULT)

    segment = call("shmat", 1000, at(64), 1, 0, 0, inside=mapped(1004, at(64), 8, b"/SYSV00000000 (deleted)", 3, 1, inode=1))
    lasting = [(64, 72, "rw-s", "shm", 0)]
    yield "mremap of more than one region to another size does nothing", segment + fixed(1020, 60, 8, 16, 200), ALL + lasting, []
    yield "... to the same size moves those before a segment", mmap(980, 200, 8, 1) + segment + fixed(1020, 60, 8, 8, 200), [
        (0, 60, RW, "anon"), *lasting, (200, 204, RW, "anon"), (204, 208, "r--p", "anon")], []
    yield "... and none where one comes first", segment + mmap(1010, 72, 8) + fixed(1020, 68, 8, 8, 200), [
        *ALL, *lasting, (72, 80, RW, "anon")], []
    yield "... nor does EINVAL", mremap(1000, 8, 8, 8, 200, MAYMOVE | MFIXED, EINVAL), ALL, []
    yield "... nor from a hole on", fixed(1020, 100, 8, 8, 200), ALL, []
    yield "... and what another file does nobody knows", fixed(1020, 60, 4, 4, 200), ALL, [(60, 64), (200, 204)]
    shared = mmap(1000, 100, 8, 3, SHARED | ANON, inside=mapped(1004, at(100), 8, b"/dev/zero (deleted)", 3, 1))
    yield "a second mapping over the first one leaves neither", shared + fixed(1020, 102, 0, 4, 100), ALL + [
        (104, 108, "rw-s", "shm", 4)], []
    yield "... and nothing is done from a hole on", shared + fixed(1020, 99, 0, 4, 98), ALL + [(100, 108, "rw-s", "shm", 0)], []


def protections():
    hole = munmap(1000, 10, 2)
    reported = mmap(900, 100, 1, inside=anonymous(905, 100, 1)) + munmap(950, 100, 1)
    yield "mprotect that is refused has left records of what it changed", reported + call(
        "mprotect", 1020, EACCES, at(4), 20 * PAGE, 1, inside=lock(1021) + anonymous(1022, 4, 6, 1) + anonymous(1023, 10, 2, 1)), [
            (0, 4, RW, "anon"), (4, 12, "r--p", "anon"), (12, 64, RW, "anon")], []
    yield "... which may reach on to what was so before", reported + mmap(1000, 8, 4, 1, PRIVATE | ANON | FIXED) + call(
        "mprotect", 1020, EACCES, at(4), 4 * PAGE, 1, inside=lock(1021) + anonymous(1022, 4, 8, 1)), [
            (0, 4, RW, "anon"), (4, 12, "r--p", "anon"), (12, 64, RW, "anon")], []
    yield "... without one nothing", reported + call("mprotect", 1020, EACCES, at(4), 20 * PAGE, 1, inside=lock(1021)), ALL, []
    yield "mprotect", call("mprotect", 1000, 0, at(10), 4 * PAGE, 1), [
        (0, 10, RW, "anon"), (10, 14, "r--p", "anon"), (14, 64, RW, "anon")], []
    yield "... that meets a hole has changed what lies before", hole + call("mprotect", 1020, ENOMEM, at(4), 20 * PAGE, 1), [
        (0, 4, RW, "anon"), (4, 10, "r--p", "anon"), (12, 64, RW, "anon")], []
    yield "... that is refused may have changed a part", call("mprotect", 1020, EACCES, at(4), 20 * PAGE, 3), ALL, [(4, 24)]
    yield "... that fails otherwise has not", call("mprotect", 1020, EINVAL, at(4), 20 * PAGE, 1), ALL, []
    yield "madvise passes over a hole, and says so", hole + call(
        "madvise", 1020, ENOMEM, at(4), 20 * PAGE, DONTFORK) + forked(1040, 300), [
            (0, 10, RW, "anon"), (12, 64, RW, "anon")], []


def many_calls(time):
    """Another thread has more calls than the ledger keeps one by one."""
    return b"".join(munmap(time + 10 * i, 200, 1, tid=101) for i in range(70))


def heap_and_segments():
    heap = call("brk", 1000, at(1000), 0)
    yield "brk grows the heap", heap + call("brk", 1020, at(1010) + 100, at(1010) + 100), ALL + [(1000, 1011, RW, "heap")], []
    yield "... shrinks it", heap + call("brk", 1020, at(1010), at(1010)) + call("brk", 1040, at(1004), at(1004)), ALL + [
        (1000, 1004, RW, "heap")], []
    yield "... that fails answers with the old end", heap + call("brk", 1020, at(1010), at(1010)) + call(
        "brk", 1040, at(1010), at(1 << 30)), ALL + [(1000, 1010, RW, "heap")], []
    segment = call("shmat", 1000, at(100), 1, 0, 0, inside=mapped(1004, at(100), 8, b"/SYSV00000000 (deleted)", 3, 1, inode=1))
    yield "shmat: as long as the record inside the call", segment, ALL + [(100, 108, "rw-s", "shm", 0)], []
    yield "... without the record its length is not known", call("shmat", 1000, at(100), 1, 0, 0), ALL + [
        (100, 101, "rw-s", "shm")], [(100, 101)]
    yield "shmdt takes it away", segment + call("shmdt", 1020, 0, at(100)), ALL, []
    yield "... each piece, and nothing else", segment + mmap(1020, 102, 2, 3, PRIVATE | ANON | FIXED) + call(
        "shmdt", 1040, 0, at(100)), ALL + [(102, 104, RW, "anon")], []
    zero = mmap(1020, 100, 1, 3, SHARED | ANON | FIXED, inside=mapped(1024, at(100), 1, b"/dev/zero (deleted)", 3, 1, inode=77))
    yield "... not other shared memory at its old start", segment + zero + call("shmdt", 1040, 0, at(100)), ALL + [
        (100, 101, "rw-s", "shm", 0)], []
    yield "... that fails takes nothing", segment + call("shmdt", 1020, EINVAL, at(101)), ALL + [(100, 108, "rw-s", "shm", 0)], []
    parent = heap + call("brk", 1020, at(1010), at(1010), inside=anonymous(1022, 1000, 10)) + call(
        "brk", 1100, at(1020), at(1020), inside=anonymous(1102, 1000, 20), tid=101) + lock(1110) + lock(1111, 8) + forked(1120, 300)
    yield "a heap that grew while another thread forked grows on in the child, which may lack that part", parent + call(
        "brk", 1200, at(1030), at(1030), inside=anonymous(1202, 1000, 30, pid=300), pid=300, tid=300), ALL + [
            (1000, 1030, RW, "heap")], [(1010, 1020)], 300
    yield "... and where it becomes smaller its end may have stayed", parent + call(
        "brk", 1200, at(1004), at(1004), pid=300, tid=300), ALL + [(1000, 1004, RW, "heap")], [(1010, 1020)], 300
    made_calls = call("mmap", 1150, at(200), at(200), PAGE, 3, PRIVATE | ANON, NONE, pid=300, tid=300)
    yield "... or in a child of that child", parent + made_calls + forked(1160, 301, 300, 300) + call(
        "brk", 1200, at(1004), at(1004), pid=301, tid=301), ALL + [(200, 201, RW, "anon"), (1000, 1004, RW, "heap")], [(1010, 1020)], 301
    parent = heap + call("brk", 1020, at(1010), at(1010)) + call("brk", 1100, at(1020), at(1020), tid=101) + many_calls(
        1200) + lock(2000) + lock(2001, 8) + forked(2010, 300)
    yield "... however many calls others have made meanwhile", parent + call(
        "brk", 2100, at(1004), at(1004), pid=300, tid=300), ALL + [(1000, 1004, RW, "heap")], [(1000, 1020)], 300
    yield "a stack that grew: a record outside any call", mmap(1000, 100, 8, 3, PRIVATE | ANON | STACK | GROWSDOWN) + mapped(
        1020, at(96), 12, b"//anon"), ALL + [(96, 108, RW, "thread stack")], []


def check_calls(tap, folder):
    for cases in (mappings, moves, protections, heap_and_segments):
        for what, records, regions, doubts, *pid in cases():
            tap.same(lasting(folder, recording(records), *pid), (regions, doubts), what)
    for what, records, regions, doubts in refused_moves():
        tap.same(lasting(folder, recording(records, kernel="6.17.0-rc3")), (regions, doubts), what)


def check_processes(tap, folder):
    fork = forked(1000, 300) + newtask(1001, 300, 0)
    data = recording(fork + munmap(1020, 0, 32) + mmap(1040, 100, 4, pid=300, tid=300))
    tap.same(lasting(folder, data), ([(32, 64, RW, "anon")], []), "fork: what the parent does then is its own")
    tap.same(lasting(folder, data, 300), (ALL + [(100, 104, RW, "anon")], []), "... and what the child does the child's")
    data = recording(call("madvise", 990, 0, at(8), 8 * PAGE, DONTFORK) + fork)
    tap.same(lasting(folder, data, 300), ([(0, 8, RW, "anon"), (16, 64, RW, "anon")], []),
             "... which does not get what was kept from it")
    data = recording(forked(1000, 300) + newtask(1001, 300, VM) + mmap(1040, 100, 4, pid=300, tid=300) + ended(1060, 300))
    tap.same(lasting(folder, data), (ALL + [(100, 104, RW, "anon")], []), "vfork: the child's calls change the parent's space")
    outstanding = {row["process"]: int(row["bytes"]) for row in rows(folder, data, "--outstanding", "--by", "process")}
    tap.same(sum(outstanding.values()), 4 * PAGE, "... which its end does not")
    both = forked(1000, 300) + forked(1001, 301, 101) + newtask(1002, 301, VM, 101) + newtask(1003, 300, VM)
    data = recording(both + execed(1050, 300) + mmap(1060, 100, 4, pid=300, tid=300))
    tap.same(lasting(folder, data, 300), ([(100, 104, RW, "anon")], []),
             "... nor has it a space of its own where two threads call it at once")
    program = mapped(1105, 0x400000, 8, b"/bin/other", 5, inode=7) + mapped(1106, 0x402000, 2, b"/bin/other", 1, inode=7, offset=2 * PAGE)
    data = recording(mmap(1000, 100, 4) + execed(1100, 100) + program, threads=())
    got = [(row["process"], int(row["bytes"])) for row in rows(folder, data, "--outstanding", "--by", "process,stack")]
    tap.same(got, [("worker [exec]", 4 * PAGE)], "exec: what was mapped just before is outstanding, and marked")
    got = sorted((int(row["start"], 16), int(row["end"], 16), row["perms"]) for row in rows(folder, data, "--maps")
                 if row["name"] == "/bin/other")
    tap.same(got, [(0x400000, 0x402000, "r-xp"), (0x402000, 0x404000, "r--p")],
             "... and the first mapping of its file ends where a later one begins")
    moved = mapped(1102, 0x7FFFFFFFE000, 1, b"//anon", 3) + mapped(1103, 0x7FFC00000000, 33, b"[stack]", 3)
    moved += program + mapped(1107, 0x600000, 2, b"//anon", 3)
    data = recording(mmap(1000, 100, 4) + execed(1100, 100) + moved, threads=())
    got = sorted((int(row["start"], 16), row["kind"]) for row in rows(folder, data, "--maps") if "/bin" not in row["name"])
    tap.same([place for place in got if not A <= place[0] < at(4096)], [(0x600000, "anon"), (0x7FFC00000000, "stack")],
             "... and its stack is where exec moved it to, not where exec made it (kernels before 6.13 record both)")
    for how, records in (("exit", mmap(1000, 100, 4) + munmap(1090, 100, 1) + ended(1100, 100)),
                         ("SIGKILL, in the midst of a call", mmap(1000, 100, 3) + made.sample(
                             31, 1050, 100, made.raw(struct.pack("<Qii6Q", 0, 9, 0, 0, PAGE, 3, PRIVATE | ANON, NONE, 0)))
                          + ended(1100, 100))):
        got = [(row["process"], int(row["bytes"])) for row in rows(folder, recording(records, threads=()), "--outstanding",
                                                                   "--by", "process")]
        tap.same(got, [("worker [exited]", 3 * PAGE)], f"{how}: what was mapped just before is outstanding, and marked")


def check_ended(tap, folder):
    """Each analysis of the past names the processes that ended."""
    held = mmap(1000, 100, 4) + forked(2000, 300)
    data = recording(held + ended(3000, 300) + execed(4000, 100), threads=())
    for options in (["--outstanding"], ["--outstanding", "--by", "kind"]):
        said = run(folder, data, *options).stderr
        tap.same("processes that exited or called exec are shown" in said, True, " ".join(options) + " says that some have ended")
    tap.same("called exec" in run(folder, recording(held, threads=()), "--outstanding").stderr, False, "... and not where none has")
    tap.same("called exec" in run(folder, data, "--outstanding", "--by", "process").stderr, False, "... nor where names say so")
    got = rows(folder, data, "--outstanding", "--by", "process", "--time", "0,1", "--base-time", "0,0.0015")
    tap.same([(row["state"], row["process"]) for row in got], [("same", "worker")],
             "in a comparison of two recordings a process is the same")


def check_a_fork_that_takes_long(tap, folder):
    """The record of the fork comes 300 ms after its lock, with a call of another thread in between."""
    data = recording(lock(1000) + lock(1001, 8) + munmap(200000, 0, 32, tid=101) + forked(300000, 300) + newtask(300001, 300, 0))
    tap.same(lasting(folder, data, 300), (ALL, []), "a fork copies what there was when it had the lock, however long it takes")


def check_growth_of_ended(tap, folder):
    data = recording(mmap(1000, 100, 4) + forked(2000, 300) + mmap(2020, 200, 2, pid=300, tid=300) + ended(3000, 300)
                     + execed(4000, 100), threads=())
    got = sorted(row["process"] for row in rows(folder, data, "--growth", "--by", "process"))
    tap.same(got, ["worker [exec]", "worker [exited]"], "who has ended is marked in what grew")
    for option in ("--growth", "--outstanding"):
        got = sorted({row["process"] for row in rows(folder, data, option, "--timeline", "1ms")})
        tap.same(got, ["worker [exec]", "worker [exited]"], f"... and over time, {option}")
    tap.same("called exec" in run(folder, data, "--growth").stderr, True, "... or a line says so")
    tap.same("called exec" in run(folder, data).stdout, False, "... not in the summary")


def check_groups_of_events(tap, folder):
    data = recording(mmap(1000, 100, 4) + mapped(1100, at(300), 2, b"[stack]"))
    for events, pages in (("mmap", 4), ("vm", 4), ("brk", 0), ("rss", 0), ("rss,vm", 4)):
        got = [int(row["bytes"]) // PAGE for row in rows(folder, data, "--outstanding", "-e", events, "--by", "kind")
               if "bytes" in row]
        tap.same(sum(got), pages, f"-e {events}: {pages} pages are of such calls")


def check_marks(tap, folder):
    """Calls that were recorded without stacks have effects, but are not counted as samples."""
    heap = A + (1 << 30)
    grown = call("brk", 1000, heap, 0) + call("brk", 1020, heap + 8 * PAGE, heap + 8 * PAGE)
    data = recording(grown + mmap(1050, 100, 4) + mmap(1100, 200, 16) + munmap(1200, 200, 16) + munmap(1300, 102, 1),
                     marks=("mmap", "munmap", "mremap"))
    without = "[call recorded without a stack]"

    def grew(*options):
        return {row["stack"] if row["stack"] == without else "path": int(row["bytes"]) // PAGE
                for row in rows(folder, data, "--growth", "--by", "stack", *options) if "stack" in row}

    tap.same(grew(), {"path": 8, without: 3}, "marks grow what is mapped, without a path")
    tap.same(grew("-e", "brk"), {"path": 8}, "... not where another call is selected")
    tap.same(grew("-e", "mmap"), {without: 20}, "... and alone where they are")
    tap.same(grew("--symbol", "nosuch"), {}, "... not where stacks are selected")
    tap.same([(row["event"], int(row["bytes"]) // PAGE) for row in rows(folder, data, "--outstanding", "--by", "event")],
             [("brk", 8), ("mmap", 3)], "what they reserved is outstanding, by their event")
    tap.same(lasting(folder, data)[0][1:3], [(100, 102, RW, "anon"), (103, 104, RW, "anon")], "--maps has what they left")
    tap.same([row["event"] for row in rows(folder, data, "--by", "event")], ["brk"], "they are no samples")
    said = run(folder, data, "-e", "mmap", "--folded").stderr
    tap.check("it has the events page-faults, brk, madvise" in said, "... nor among the events that there are", said)
    said = run(folder, data).stdout
    tap.check(said.startswith("mmap was recorded without stacks: what it mapped has no path\n"), "the summary begins with what has no path", said)
    tap.check("+12.3 kB  by calls that were recorded without a stack" in said, "the summary says how much is theirs", said)
    tap.check("mmap" not in said.partition("stacks")[0].partition("event")[2], "... and does not count them", said)
    tap.same({row["process"] for row in rows(folder, data, "--verdict", "--by", "process")}, {"worker"},
             "a verdict on the process has them")
    tap.check(without in run(folder, data, "-q", "--all").stdout.partition("LEAK?")[2], "... and one on all that has no path", data)
    only = recording(mmap(1000, 100, 4), marks=list(made.CALLS))
    tap.same([int(row["bytes"]) // PAGE for row in rows(folder, only, "--growth", "--by", "stack")], [4],
             "they alone are enough")


def check_limits(tap, folder):
    """A line before the figures reports events that were not recorded, or not in full, because they limit the figures."""
    at_all = mmap(1000, 100, 4) + call("brk", 1100, A + (1 << 30), 0) + call("brk", 1200, A + (1 << 30) + PAGE, A + (1 << 30) + PAGE)
    gone = "what was unmapped or moved counts as mapped"
    apart = f"munmap and mremap were not recorded: {gone}"
    for calls, option, want in (
            (made.CALLS, "--growth", ""), (made.CALLS, "--maps", ""), (made.CALLS, "--resident", ""), (["brk"], "--samples", ""),
            (["brk"], "--growth", "mmap was not recorded: heap only"),
            (["brk"], "--outstanding", "mmap was not recorded: heap only"),
            (["brk"], "--verdict", "mmap was not recorded: heap only"),
            (["brk", "mmap"], "--growth", apart), (["brk", "mmap"], "--maps", apart + "; mprotect was not recorded: protections are those of mmap"),
            (["brk", "munmap", "mremap"], "--growth", "mmap was not recorded: what was mapped has no path")):
        records = b"".join(part for name, part in (("mmap", mmap(1000, 100, 4)), ("brk", at_all[len(mmap(1000, 100, 4)):]))
                           if name in calls)
        done = run(folder, recording(records, calls=calls), option, "--csv")
        said = [line.partition(": ")[2] for line in done.stderr.splitlines() if "was not recorded" in line or "were not" in line]
        tap.same(said, [want] if want else [], f"{option} of {', '.join(calls)}: one line says what the data lack")
        for output in ("--table", "--paths", "--summary"):
            text = run(folder, recording(records, calls=calls), "-q", option, output).stdout
            if option not in ("--maps", "--resident"):
                tap.same(" ".join(text.split()).startswith(want), True, f"... and in front of {output}")
    heap = recording(at_all, calls=["brk"])
    tap.check(run(folder, heap, "-q").stdout.startswith("mmap was not recorded: heap only\n"), "the summary begins with it")
    tap.same(run(folder, heap, "-q", "--growth", "--csv").stderr, "", "-q prints the data alone")
    tap.same(sum(int(row["bytes"]) for row in rows(folder, recording(at_all + mapped(1300, at(300), 8, b"//anon", inode=0), calls=["brk"]),
                                                  "--growth")), PAGE, "the figures are the heap's alone, whatever else was mapped")
    made_of = make.attr(2, 738, made.EXIT_TYPE)
    thin = make.event(138, 0, "syscalls:sys_exit_munmap/ret < 0/", "munmap", made_of)
    said = run(folder, recording(mmap(1000, 100, 4), calls=["mmap", "mremap"], kinds=thin), "-q", "--growth").stdout
    tap.check(said.startswith("munmap was recorded in part: figures are off\n"), "a filter limits, too", said)
    weighed = recording(make.weight(0, made.CALLS["mmap"][0], 10, 1) + mmap(1000, 100, 4))
    said = run(folder, weighed, "-q", "--growth").stdout
    tap.check(said.startswith("mmap was recorded in part: figures are off\n"), "... and a limit on samples", said)
    cpus, names = make.info("target-cpus", "0,2"), make.info("target-comm", "^work")
    apart = "what ran on other CPUs"
    others = "what threads of other names did"
    for kinds, threads, want in (
            (cpus, (101,), f"{apart} was not recorded: figures are off"), (names, (), ""), (make.info("target-comm", "work|th"), (101,), ""),
            (names, (101,), f"{others} was not recorded: figures are off"),
            (make.info("target", "tid 100"), (), "what other threads did was not recorded: figures are those of the chosen ones"),
            (cpus + names, (101,), f"{apart} and {others} were not recorded: figures are off")):
        for option in ("--outstanding", "--growth", "--maps", "--verdict"):
            said = run(folder, recording(mmap(1000, 100, 4), kinds=kinds, threads=threads), "-q", option, "--table").stdout
            said = " ".join(said.split())
            tap.same(said.startswith(want) if want else "not recorded" not in said, True, f"{option}: '{want}'")
    other = made.process_record(make.COMM, struct.pack("<II", 100, 100) + b"other\0\0\0", 1100, 2, 100)
    renamed = recording(mmap(1000, 100, 4) + other, kinds=names, threads=())
    tap.check(run(folder, renamed, "-q", "--outstanding").stdout.startswith(f"{others} was not recorded"), "a thread that takes another name")


def check_targets(tap, folder):
    """mtrec's choice of processes limits all figures; TASK and MAP records of the others serve for their names alone."""
    seen = mmap(1000, 200, 2, pid=555, tid=555)

    def mapped_of(key, value, records=b""):
        data = recording(seen + records, threads=(), kinds=make.info(key, value))
        return [pid for pid in (100, 555) if any(row.get("pid") == str(pid) for row in rows(folder, data, "--maps"))]

    both, sampled = [100, 555], [555]
    for key, value, want in (
            ("target", "all", both), ("target", "pid 100,555", both), ("target-uid", "1000", both), ("target-uid", "0", sampled),
            ("target-comm", "^work", both), ("target-comm", "^ork", sampled), ("target-cgroup", ":/user.slice", both),
            ("target-cgroup", ":/", both), ("target-cgroup", ":/user", sampled), ("target-cgroup", "perf_event:/user.slice", sampled)):
        tap.same(mapped_of(key, value), want, f"{key} {value}: {len(want)} of two processes, one of them by its sample")
    tap.same(mapped_of("target-uid", "0", mmap(2000, 100, 1)), both, "one that has a sample later is a target")
    child = forked(1100, 300) + mapped(1200, at(300), 4, b"[stack]", pid=300)
    data = recording(seen + child, threads=(), kinds=make.info("target-uid", "0"))
    got = {row["pid"] for options in (["--growth"], ["--outstanding", "--all"])
           for row in rows(folder, data, *options, "--by", "process")}
    tap.same(got, {"555"}, "nor have others growth, or what is outstanding")
    data = recording(seen + child, threads=(), kinds=make.info("target-uid", "1000"))
    got = {row["pid"] for row in rows(folder, data, "--outstanding", "--all", "--by", "process") if "pid" in row}
    tap.same(got, {"100", "300", "555"}, "a target's child is one")
    data = recording(seen + execed(1100, 100) + mapped(1200, at(300), 4, b"[stack]"), threads=(), kinds=make.info("target-comm", "^other$"))
    tap.same(sorted(row["process"] for row in rows(folder, data, "--outstanding", "--all", "--by", "process")),
             [":555", "other"], "exec may give the name that is meant")


def check_what_exec_maps(tap, folder):
    program = mapped(1105, at(400), 8, b"/bin/other", 5, inode=7) + mapped(1106, at(500), 2, b"//anon", inode=0)
    data = recording(execed(1100, 100) + program + mmap(1200, 600, 4, 1, PRIVATE, fd=3, inside=mapped(
        1202, at(600), 4, b"/data", 1)), threads=())
    for options, pages in ((["--by", "kind"], 2 + 4), (["--by", "process"], 2), (["--all", "--by", "kind"], 8 + 2 + 4),
                           (["--all", "-e", "vm", "--by", "kind"], 4)):
        got = sum(int(row["bytes"]) // PAGE for row in rows(folder, data, "--outstanding", *options)
                  if "[exec]" not in row.get("process", ""))
        tap.same(got - 64 * ("--all" in options and "-e" not in options), pages,
                 f"{' '.join(options)}: {pages} pages, the program's own files with --all alone")


def check_moments(tap, folder):
    data = recording(mmap(1000, 100, 8) + mmap(2000, 200, 8) + munmap(3000, 100, 8) + munmap(4000, 200, 4))
    for moment, pages in (("peak", 16), ("end", 4), ("@1500000", 8), ("@2500000", 16), ("@3500000", 8), ("1.5ms", 16)):
        got = sum(int(row["bytes"]) for row in rows(folder, data, "--outstanding", "--by", "process", "--at", moment))
        tap.same(got, pages * PAGE, f"--at {moment}: {pages} pages are outstanding")
    got = sum(int(row["bytes"]) for row in rows(folder, data, "--growth", "--by", "process"))
    tap.same(got, 4 * PAGE, "... and by as many it grew")


def check_order(tap, folder):
    one, other = mmap(1000, 8, 8, 1, PRIVATE | ANON | FIXED, until=50), munmap(1010, 12, 8, tid=101, until=20)
    size = len(made.sample(31, 1000, 100, made.raw(bytes(64))))
    enter, leave = one[:size], one[size:]
    data = recording(enter + other + leave)
    tap.same(lasting(folder, data), ([(0, 8, RW, "anon"), (8, 16, "r--p", "anon"), (20, 64, RW, "anon")], [(8, 20)]),
             "of calls that overlapped, without locks, all that both changed is in doubt")
    heap = call("brk", 1000, at(1000), 0) + call("brk", 1020, at(1010), at(1010))
    shrinks, asks = call("brk", 1040, at(1004), at(1004), until=50), call("brk", 1050, at(1004), 0, tid=101, until=20)
    data = recording(heap + shrinks[:size] + asks + shrinks[size:] + call("brk", 1100, at(1006), at(1006)))
    tap.same(lasting(folder, data), (ALL + [(1000, 1006, RW, "heap")], [(1006, 1010)]),
             "... and where the heap ends is not what a call that moved nothing was answered, but is in doubt")
    data = recording(mmap(1000, 100, 4, tid=101) + many_calls(1200) + forked(2010, 300))
    tap.same(lasting(folder, data, 300), (ALL + [(100, 104, RW, "anon")], [(100, 201)]),
             "a fork may have copied before whatever other threads did since its own last call")
    data = recording(mmap(1000, 100, 4, tid=101) + many_calls(1200) + mmap(1950, 300, 1) + forked(2010, 300))
    tap.same(lasting(folder, data, 300), (ALL + [(100, 104, RW, "anon"), (300, 301, RW, "anon")], []),
             "... not before what they did earlier")


def check_readings(tap, folder):
    def growth(data):
        return {row["stack"] or "[unknown]": tuple(int(row.get(key, row["bytes"])) // PAGE for key in ("bytes", "bytes_low", "bytes_high"))
                for row in rows(folder, data, "--growth", "--by", "stack")}

    seen = mmap(1000, 100, 8)
    after = reread(5000, (A, 64, 3), (at(100), 8, 3), (at(300), 16, 3))
    lost = make.loss(3, 1, 30)
    data = recording(seen + munmap(4000, 100, 0, EINVAL), later=after, lost=lost)
    got = growth(data)
    tap.same(got.get("[lost]", (0,))[0], 16, "memory that a later reading has and no record reported was lost, where records were lost")
    tap.same(got.get("[unknown]"), (8, 8, 24), "... of which a part may be any path's: low and high say how much")
    done = run(folder, data, "--growth", "--strict")
    tap.same(done.returncode, 1, "... and --strict says that records were lost")
    tap.same(lasting(folder, data), (ALL + [(100, 108, RW, "anon"), (300, 316, RW, "anon")], []), "... it is mapped from then on")
    data = recording(seen + munmap(4000, 100, 0, EINVAL), later=reread(5000, (at(10), 54, 3)), lost=lost)
    tap.same(growth(data), {"[unknown]": (8, -10, 8), "[lost]": (-18, -18, -18)}, "what is gone went in the loss, too")
    data = recording(seen, later=after)
    tap.same(growth(data), {"[unknown]": (8, 8, 8), "[unseen]": (16, 16, 16)}, "without a loss nobody has seen it come")
    seeds = make.map_record(A, at(64), "", 3)
    between = mmap(920, 100, 8)
    first = make.map_record(A, at(64), "", 3) + make.map_record(at(100), at(108), "", 3)
    data = recording(between, seeds=first, later=reread(960, (A, 64, 3), (at(100), 8, 3)))
    tap.same(growth(data), {"[unknown]": (8, 8, 8)},
             "a piece with a call inside its stamps is taken from the next reading")
    data = recording(mmap(4996, 100, 8), seeds=seeds, later=reread(5000, (A, 64, 3), took=50))
    tap.same(growth(data), {"[unknown]": (8, 8, 8)}, "... and the account is right where there is no next one")
    data = recording(munmap(800, 0, 32) + mmap(1000, 100, 8), seeds=make.map_record(at(32), at(64), "", 3))
    tap.same(lasting(folder, data), ([(32, 64, RW, "anon"), (100, 108, RW, "anon")], []),
             "what was given back before the first reading is not in it")
    forked_heap = make.map_record(at(1000), at(1010), "[heap]", 3) + make.map_record(at(1010), at(1050), "[heap]", 3)
    data = recording(call("brk", 1000, at(1052), at(1052)), seeds=forked_heap)
    tap.same(growth(data), {"[unknown]": (2, 2, 2)}, "a heap of two regions, as after a fork, grows from the end of the last one")
    waited_for = made.sample(LOCK, 1000, 777, made.raw(struct.pack("<QQQBB", 0, 8, 1, 1, 1)), pid=777)
    data = recording(waited_for + execed(1100, 100) + mmap(1200, 600, 4), threads=())
    def held(data):
        return {row["process"]: int(row["bytes"]) // PAGE
                for row in rows(folder, data, "--outstanding", "--all", "--by", "process")}

    got = held(data)
    tap.same(got, {"worker [exec]": 64, "other": 4},
             "a reading from before exec is of the program before, though others are waited for meanwhile")
    data = recording(mmap(1020, 200, 2, pid=555, tid=555) + mmap(5000, 100, 4), threads=())
    tap.same(lasting(folder, data), ([(0, 64, RW, "anon"), (100, 104, RW, "anon")], []),
             "what /proc said holds though another process is the first to call")


def check_opened(tap, folder):
    """Address space without access, as in a thread arena, is reserved by the call that makes it accessible."""
    def pages(data, *options):
        return {row["stack"] if row["stack"].startswith("[") else row["tid"]: int(row["bytes"]) // PAGE
                for row in rows(folder, data, *options, "--by", "thread,stack") if "bytes" in row}

    arena = make.map_record(A, at(8), "", 3) + make.map_record(at(8), at(64), "", 0)
    opens = call("mprotect", 1000, 0, at(8), 16 * PAGE, 3, tid=101)
    data = recording(opens, arena)
    tap.same(pages(data, "--growth"), {"101": 16, "[before the recording]": -16},
             "mprotect of what was reserved before: it grows on the account of the call, and the sum is what is mapped")
    tap.same(pages(data, "--outstanding"), {"101": 16}, "... and is outstanding")
    tap.same(sum(int(row["bytes"]) for row in rows(folder, data, "--outstanding", "--timeline", "1ms")), 16 * PAGE, "... over time, too")
    tap.same(pages(recording(opens + munmap(1100, 8, 4), arena), "--outstanding"), {"101": 12}, "... but for what munmap took")
    grown = call("mprotect", 800, 0, at(8), PAGE, 3, entered=False, inside=anonymous(805, 0, 9))
    tap.same(pages(recording(grown, make.map_record(A, at(9), "", 3) + make.map_record(at(9), at(64), "", 0)), "--outstanding"), {},
             "an mprotect that was entered before the recording: what its mapping had before the call does not grow")
    tap.same(pages(recording(anonymous(805, 0, 8) + mmap(1000, 100, 4), arena), "--outstanding"), {"100": 4},
             "... and nothing grows where its exit was not recorded either: the first reading has it")
    within = mmap(1000, 100, 64, 0) + call("mprotect", 1050, 0, at(100), 16 * PAGE, 3, tid=101)
    for option in ("--growth", "--outstanding"):
        tap.same(pages(recording(within), option), {"100": 48, "101": 16}, f"{option}: of what a call reserved the part that another opened")
    closed = within + call("mprotect", 1100, 0, at(100), 16 * PAGE, 0)
    tap.same(pages(recording(closed), "--growth"), {"100": 48, "101": 16}, "what is closed again is reserved still")


def check_observed_time(tap, folder):
    """Ages are measured at the end of the recording, a minute after its last event."""
    minute = 60000000
    writer = make.begun(make.info("kernel", "6.1.0") + make.event(
        made.CALLS["mmap"][0], 0, "syscalls:sys_exit_mmap", "mmap", make.attr(2, 730, made.EXIT_TYPE)))
    writer.chunk(make.STATE, make.task(), make.map_record(A, at(64), "", 3))
    writer.chunk(make.DATA, mmap(1000, 100, 4))
    data = writer.chunk(make.END, make.end(0, len(writer.data), until=minute)).data
    for options in ([], ["--older-than", "15s"]):
        tap.same([float(row["age"]) > 59 for row in rows(folder, data, "--outstanding", *options)], [True],
                 " ".join(["--outstanding", *options]) + ": age counts to the end of the recording, not to the last event")
    tap.same([row["rests-on"].split(" s, ")[0] for row in rows(folder, data, "--verdict")], ["60.00"], "... and so does --verdict's time")
    ages = [float(row["age"]) for row in rows(folder, data, "--outstanding", "--at", "@30000000000")]
    tap.same([29 < age < 30 for age in ages], [True], "--at a moment after the last event")


def check_advised(tap, folder):
    """Memory that madvise frees again and again, and that the program fills again, rises and falls although it stays mapped."""
    second = 1000000
    described = make.info("kernel", "6.1.0") + b"".join(
        make.event(made.CALLS[name][0], 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + made.CALLS[name][0], made.EXIT_TYPE))
        for name in ("mmap", "madvise"))
    described += make.event(made.FAULT, 0, "page-faults", "page-faults", make.attr(1, 2, made.FAULT_TYPE), klass=1)

    def verdict(times):
        writer = make.begun(described)
        writer.chunk(make.STATE, make.task(), make.map_record(A, at(64), "", 3))
        records = mmap(1000, 100, 4)
        for n in range(times + 1):
            records += b"".join(made.fault(second * (n + 1) + page, 100 + page) for page in range(4))
            records += call("madvise", second * (n + 1) + 500, 0, at(100), 4 * PAGE, made.DONTNEED) if n < times else b""
        writer.chunk(make.DATA, records)
        data = writer.chunk(make.END, make.end(0, len(writer.data), until=60 * second)).data
        return [(row["verdict"], row["rests-on"]) for row in rows(folder, data, "--verdict")]

    tap.same(verdict(0), [("one-off", "60.00 s, 1 reservation, nothing given back")], "memory that nothing gives back")
    tap.same(verdict(4), [("sawtooth", "60.00 s, 1 reservation, nothing unmapped, 65.5 kB of its pages given back in 4 calls")],
             "... and whose pages come and go")
    tap.same(verdict(1), [("one-off", "60.00 s, 1 reservation, nothing unmapped, 16.4 kB of its pages given back in 1 call")],
             "... that went once")


def check_brk_losses(tap, folder):
    heap = 0x555500000000

    def ends(*times):
        return b"".join(call("brk", time, heap + pages * PAGE, heap + pages * PAGE) for time, pages in times)

    moved = ends((1000, 4), (1500, 6), (3000, 16), (3500, 18))
    for what, lost, want in (
            ("what brk moved is who called it", b"", {"[unknown]": 14}),
            ("... across a loss nobody's", make.loss(1, 1, 38), {"[unknown]": 4, "[lost]": 10}),
            ("... also where the kernel names the mark that came after it", make.loss(1, 1, 39), {"[unknown]": 4, "[lost]": 10}),
            ("... or that of another call", make.loss(1, 1, 33), {"[unknown]": 4, "[lost]": 10}),
            ("counts that were compared say that only marks were lost", make.loss(1, 2, 39), {"[unknown]": 14})):
        found = rows(folder, recording(moved, lost=lost), "--growth", "--by", "stack")
        tap.same({row["stack"] or "[unknown]": int(row["bytes"]) // PAGE for row in found}, want, what)


def check_unseen(tap, folder):
    def remarks(data, *options):
        said = run(folder, data, *(options or ("--growth", "--csv"))).stderr
        return [line.split(": ", 1)[1].split(",")[0].split(": ")[0] for line in said.splitlines() if "unseen" in line]

    def figures(data, *options):
        return sorted(tuple(int(row.get(key, row["bytes"])) // PAGE for key in ("bytes", "bytes_low", "bytes_high"))
                      for row in rows(folder, data, *options, "--by", "stack"))

    taken = mmap(1000, 100, 8)
    seeds = make.map_record(A, at(64), "", 3)
    ring, advice = ["worker (100) has io_uring"], ["worker (100) has used process_madvise"]
    tap.same(remarks(recording(taken)), [], "where all calls are seen nothing is said")
    used = recording(taken + call("io_uring_setup", 2000, 5, 64))
    tap.same(remarks(used), ring, "io_uring is said to go unseen, once it is made")
    tap.same(figures(used, "--growth"), [(8, 8, 8)], "... and what is mapped stays exact, since it only advises")
    tap.same(remarks(used, "--outstanding", "--csv"), ring, "... which --outstanding says, too")
    tap.same(remarks(recording(taken + call("io_uring_setup", 2000, -38, 64))), [], "... not where that failed")
    tap.same(remarks(recording(taken, seeds + make.map_record(at(300), at(301), "anon_inode:[io_uring]", 3))), ring,
             "... and where it was there before")
    tap.same(remarks(recording(taken + mapped(2000, at(300), 1, b"anon_inode:[io_uring]"))), ring, "... or is mapped")
    tap.same(remarks(recording(taken, seeds + make.map_record(at(300), at(301), "anon_inode:[perf_event]", 3))), [],
             "... not where it is another file of that kind")
    tap.same(remarks(recording(taken + call("process_madvise", 2000, PAGE, 5, 1, 1, 4))), advice, "so is process_madvise")
    vdso = make.map_record(0xf7fc0000, 0xf7fc2000, "[vdso]", 5)
    narrow = ["worker (100) is 32-bit"]
    for data, how in ((recording(taken, vdso + seeds), "attached to"),
                      (recording(taken + mapped(1500, 0xf7fc0000, 2, b"[vdso]", 5, inode=0), seeds), "that was begun")):
        tap.same(remarks(data), narrow, f"a 32-bit program {how} is said to be one, by where its vdso is")
    data = recording(mmap(1000, 100, 8, result=0x10000000), vdso)
    tap.same(figures(data, "--growth"), [(0, -(1 << 20), 1 << 20), (8, 8, 8)],
             "... by how much it grew unseen: anything that it can address")
    tap.same(figures(data, "--outstanding"), [(8, 0, 8)], "... of what it reserved any part may have been given back")
    tap.same([(row["start"], row["end"]) for row in rows(folder, data, "--maps") if row["perms"] == "????"],
             [("0x0", "0x100000000")], "... and all that it may have mapped is in doubt")
    said = run(folder, data).stdout
    tap.check("! worker (100) is 32-bit" in said, "the summary says so", said)
    child = recording(taken + forked(2000, 200) + ended(3000, 200), vdso + seeds)
    tap.same(remarks(child), ["worker and 1 more are 32-bit"], "its child is one, too")
    tap.check("\n! worker and 1 more are 32-bit, calls go unseen: mapped is in doubt\n" in run(folder, child).stdout,
              "... which the summary says in one line", run(folder, child).stdout)
    tap.same(remarks(recording(taken, make.map_record(0x7fffff000000, 0x7fffff002000, "[vdso]", 5) + seeds)), [],
             "a 64-bit program has its vdso elsewhere")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_calls(tap, folder)
        check_processes(tap, folder)
        check_ended(tap, folder)
        check_a_fork_that_takes_long(tap, folder)
        check_growth_of_ended(tap, folder)
        check_groups_of_events(tap, folder)
        check_marks(tap, folder)
        check_limits(tap, folder)
        check_targets(tap, folder)
        check_what_exec_maps(tap, folder)
        check_moments(tap, folder)
        check_order(tap, folder)
        check_readings(tap, folder)
        check_opened(tap, folder)
        check_observed_time(tap, folder)
        check_advised(tap, folder)
        check_brk_losses(tap, folder)
        check_unseen(tap, folder)
    tap.finish()


if __name__ == "__main__":
    main()
