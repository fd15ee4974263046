"""A recording in which every text is hostile: it has characters that control a terminal, a shell, a page or a format."""
import corpus as make
import encoder

HOSTILE = "h\x1b]0;t\x07\u009b1m\u202eb\u2066\u2028\nforged line\r;<script>alert(1)</script>;touch y'\"$(z)`z`"
RAW = HOSTILE.encode() + b"\xff\xc0\x80\xed\xa0\x80"  # and what is no UTF-8
JITTED = 0x900000
CODE = 0xA00000
NAMES = ("main", "a", "b", "leaf", "n" * 10000, "(7) x", "c;\"<script>\\'&amp;")
CUT = 4096  # of a perf map's name


def recording():
    """Calls, faults and stacks, in which every text is hostile, except those that the ledger uses."""
    plain = encoder.string
    known = {"page-faults": HOSTILE, "thread": HOSTILE, "worker": HOSTILE, "the ring is small": HOSTILE,
             "/bin/worker": "/bin/" + HOSTILE, "worker\0-x\0": HOSTILE, "0::/user.slice\n": "0::/" + HOSTILE + "\n",
             "golden": HOSTILE, "6.1.0": HOSTILE, "x86_64": HOSTILE, "mtrec -e 'page-faults,brk' -- true": HOSTILE}
    encoder.string = lambda text: plain(RAW if text == HOSTILE else known.get(text, text) if isinstance(text, str) else text)
    described = [make.event(index, 0, "syscalls:sys_exit_" + name, name, make.attr(2, 700 + index, make.CALL_TYPE, 136))
                 for name, (index, _) in make.CALLS.items()]
    described.append(make.event(make.MINOR, 0, "minor-faults", "minor-faults", make.attr(1, 5, make.MINOR_TYPE), klass=1))
    writer = make.state(make.begun(b"".join(described)))
    writer.chunk(make.STATE, make.note(), make.image(problem=HOSTILE), make.loss())
    writer.chunk(make.FILE, make.carried(4, b"/tmp/perf-100.map", b"%x 1000 %s\n" % (JITTED, RAW.replace(b"\n", b"")), time=2000))
    writer.chunk(make.FILE, make.carried(5, b"/tmp/jit-100\0dump", b"ends within"))
    writer.chunk(make.DATA, make.mapped(1100, 0xA00000, 0x1000, b"/tmp/jit-100.dump", 5),
                 make.mapped(1101, JITTED, 0x1000, b"//anon", 7),
                 make.call("brk", 1102, 0x600000, 0), make.call("brk", 1103, 0x621000, 0x621000),
                 make.mapped(1109, 0x7F0000000000, 0x2000, b"/data/" + RAW),
                 make.call("mmap", 1110, 0x7F0000000000, 0, 0x2000, 3, 2, 5, 0),
                 make.minor_fault(1120, 0x7F0000000001), make.minor_fault(1121, 0x600010), stream=0)
    for n, place in enumerate((0x400100, JITTED + 16, JITTED + 32)):
        writer.chunk(make.DATA, make.frames(make.FAULTS, 1200 + n, (place, JITTED + 64, 0x400200), (0, 0, 0)), stream=0)
    writer.chunk(make.DATA, make.kernel(make.SIDEBAND, make.perf_record(
        make.COMM, make.struct.pack("<II", 100, 102) + make.pad(RAW[:15] + b"\0") + make.sample_id(1300)), 1300),
                 make.sample(make.FAULTS, 1301), stream=0)
    return make.ended(writer, 12)


def functions():
    """Stacks in which functions call themselves, and the names of their functions from a perf map, outermost first."""
    writer = make.state(make.begun())
    code = b"".join(b"%x 1000 %s\n" % (CODE + n * 0x1000, name.encode()) for n, name in enumerate(NAMES))
    writer.chunk(make.DATA, make.mapped(1000, CODE, 0x10000, b"//anon", 7), stream=0)
    stacks = (0, 1, 2, 1, 3), (0, 1, 1, 1), (0, 2, 3), (0, 1, 2, 1, 2), (0, 1, 0, 3), (0, 4, 5, 6)
    for n, stack in enumerate(stacks):
        places = tuple(CODE + function * 0x1000 + 16 for function in reversed(stack))
        writer.chunk(make.DATA, make.frames(make.FAULTS, 1200 + n, places, (0,) * len(places)), stream=0)
    writer.chunk(make.FILE, make.carried(4, b"/tmp/perf-100.map", code, time=2000))
    return make.ended(writer, len(stacks)), [[NAMES[function][:CUT] for function in stack] for stack in stacks]
