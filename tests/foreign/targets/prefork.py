"""python3 prefork.py COUNTED PIDS: a master with three workers, of which the second keeps what it is asked to remember."""
import os
import signal
import sys
import time


def remember(record):
    kept = []
    while True:
        kept.append(bytearray(16384))
        os.pwrite(record, b"%20d" % (len(kept) * 16384), 0)
        time.sleep(0.01)


def serve():
    buffers = [None] * 50
    i = 0
    while True:
        buffers[i % 50] = bytearray(16384)
        i += 1
        time.sleep(0.01)


workers = []
for number in range(3):
    child = os.fork()
    if not child:
        remember(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)) if number == 1 else serve()
    workers.append(child)
signal.signal(signal.SIGTERM, lambda *_: [os.kill(pid, signal.SIGKILL) for pid in workers] and sys.exit())
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as pids:
    print(*workers, file=pids)
os.rename(sys.argv[2] + ".new", sys.argv[2])
signal.pause()
