"""python3 grow.py COUNTED objects|arrays|replace: what it keeps grows by 1.6 MB a second, in small objects or by arrays."""
import os
import sys
import time

kept = []
record = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)


def open_session(i):
    """Objects of pymalloc's arenas: 200 to 400 bytes each."""
    kept.append([f"session {i} of user {i % 97} field {k} ".ljust(200 + i % 200) for k in range(64)])


def load_array(_):
    """One block of the C library's."""
    kept.append(bytearray(16384))


def replace_session(i):
    open_session(i)
    if len(kept) > 300:
        del kept[:1]


def size(entry):
    return sys.getsizeof(entry) + (sum(map(sys.getsizeof, entry)) if isinstance(entry, list) else 0)


step = {"objects": open_session, "arrays": load_array, "replace": replace_session}[sys.argv[2]]
total, i = 0, 0
while True:
    step(i)
    if sys.argv[2] != "replace":
        total += size(kept[-1])
    os.pwrite(record, b"%20d" % total, 0)
    i += 1
    time.sleep(0.01)
