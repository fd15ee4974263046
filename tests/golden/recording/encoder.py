"""An encoder of recordings, written only from formats/FORMAT.md: bytes, planes, records, the kernel's records."""
import struct

MAGIC = b"\x89MTRC\r\n\x1a"
HEAD, STATE, DATA, MARK, END, FILE = 1, 2, 3, 4, 5, 6
(R_HEADER, R_INFO, R_EVENT, R_CLOCK, R_TASK, R_MAP, R_IMAGE, R_LOSS, R_WEIGHT, R_MARK, R_END,
 R_NOTE) = range(1, 13)
R_GAUGE, R_REREAD, R_KERNEL, R_SAMPLE, R_FRAMES, R_PACKED = range(14, 20)
CRITICAL = 1 << 31
NONE = 0xFFFFFFFF
STORED, ZSTD, PLANES = 0, 1, 2
US = 1000  # nanoseconds

MMAP, COMM, EXIT, FORK, PERF_SAMPLE, MMAP2 = 1, 3, 4, 7, 9, 10
MISC_USER = 2


# Bytes --------------------------------------------------------------------------------------------

def crc_of_byte(state):
    for _ in range(8):
        state = state >> 1 ^ (0x82F63B78 & -(state & 1))
    return state


CRC_OF_BYTE = [crc_of_byte(value) for value in range(256)]


def crc32c(data):
    state = NONE
    for byte in data:
        state = state >> 8 ^ CRC_OF_BYTE[(state ^ byte) & 255]
    return state ^ NONE


def string(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<I", len(data)) + data


def pad(data, to=8):
    return data + bytes(-len(data) % to)


def record(kind, body, time=0):
    """Times in this file are microseconds: no output of mtreport shows less."""
    body = pad(body)
    return struct.pack("<IIQ", kind, 16 + len(body), time * US) + body


def zstd_frame(data):
    """A zstd frame of raw and run-length blocks: needs no library, and long runs get smaller."""
    out = struct.pack("<IBI", 0xFD2FB528, 2 << 6 | 1 << 5, len(data))
    blocks = list(runs(data)) or [(b"", 0)]
    for number, (block, kind) in enumerate(blocks):
        size = len(block) << 3 | kind << 1 | (number == len(blocks) - 1)
        out += struct.pack("<I", size)[:3] + (block[:1] if kind == 1 else block)
    return out


def runs(data):
    """(bytes, block type): 1 where one byte is repeated, 0 elsewhere."""
    start = at = 0
    while at < len(data):
        end = at
        while end < len(data) and data[end] == data[at] and end - at < 1024:
            end += 1
        if end - at >= 32:
            if at > start:
                yield data[start:at], 0
            yield data[at:end], 1
            start = end
        at = end
    if at > start:
        yield data[start:at], 0


def chunk_header(kind, stored, **fields):
    """Returns a header with a right checksum over any fields."""
    values = dict(type=kind, flags=1 if kind in (HEAD, STATE, DATA) else 0, codec=STORED,
                  stored_size=len(stored), raw_size=len(stored), sequence=0, first_time=0,
                  last_time=0, stream=0, records=0, crc=crc32c(stored))
    values.update(fields)
    head = MAGIC + struct.pack("<HHB3xIIQQQIII", *(values[name] for name in (
        "type", "flags", "codec", "stored_size", "raw_size", "sequence", "first_time", "last_time",
        "stream", "records", "crc")))
    return head + struct.pack("<I", crc32c(head))


def record_times(payload):
    """The times of well-formed records, for the chunk header."""
    times, at = [], 0
    while at + 16 <= len(payload):
        size, time = struct.unpack_from("<IQ", payload, at + 4)
        if size < 16 or size % 8 or at + size > len(payload):
            break
        times.append(time)
        at += size
    return times


class Writer:
    """Writes chunks one after the other. Their headers are correct unless a field is given."""

    def __init__(self):
        self.data = b""
        self.sequence = 0
        self.codec = STORED
        self.frames = 1

    def chunk(self, kind, *records, **fields):
        payload = b"".join(records)
        codec = fields.setdefault("codec", self.codec)
        stored = fields.pop("stored", None) or payload
        if codec == ZSTD:
            stored = self.packed(payload)
        elif codec == PLANES and stored is payload:
            stored = planes_payload(split_planes(payload))
        if len(stored) > len(payload):  # not worth it, and not allowed
            fields["codec"], stored = STORED, payload
        times = record_times(payload)
        reported = dict(raw_size=len(payload), sequence=self.sequence, records=len(times),
                    first_time=min(filter(None, times), default=0), last_time=max(times, default=0))
        self.sequence = fields.get("sequence", self.sequence) + 1
        self.data += chunk_header(kind, stored, **dict(reported, **fields)) + stored
        return self

    def packed(self, payload):
        step = -(-len(payload) // self.frames) or 1
        return b"".join(zstd_frame(payload[at:at + step]) for at in range(0, len(payload), step))

    def raw(self, data):
        self.data += data
        return self

    def lose(self, count=1):
        self.sequence += count
        return self


# Planes -------------------------------------------------------------------------------------------

PLANE_NAMES = ("kinds", "times", "heads", "others", "stored", "changed", "masks", "tags",
               "same_low", "same_high", "alike_low", "alike_high", "difference_low",
               "difference_high", "literals")


class WordPlanes:
    """The words of PACKED records, each compared with all before it."""

    def __init__(self, planes):
        self.planes, self.words, self.distance, self.tags = planes, [0], 1, []
        self.last, self.last_alike = {0: 0}, {0: 0}  # where words were

    def add(self, word):
        self.tags.append(self.tag(word))
        self.last[word] = self.last_alike[word >> 16] = len(self.words)
        self.words.append(word)

    def tag(self, word):
        same = len(self.words) - self.last.get(word, -65536)
        alike = len(self.words) - self.last_alike.get(word >> 16, -65536)
        if self.words[-self.distance] == word:
            return 0
        if same < 65536:
            self.distance = same
            self.put("same", same)
            return 1
        if alike < 65536:
            self.put("alike", alike)
            self.put("difference", word - self.words[-alike] & 0xFFFF)
            return 2
        self.planes["literals"] += struct.pack("<Q", word)
        return 3

    def put(self, name, value):
        self.planes[name + "_low"].append(value & 255)
        self.planes[name + "_high"].append(value >> 8)

    def end(self):
        tags = self.tags + [0] * (-len(self.tags) % 4)
        self.planes["tags"] = bytearray(a | b << 2 | c << 4 | d << 6 for a, b, c, d in
                                        zip(tags[::4], tags[1::4], tags[2::4], tags[3::4]))


def count_bits(data):
    return bin(int.from_bytes(data, "little")).count("1")


def signed_leb(value):
    out = b""
    while not -64 <= value < 64:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value & 127])


def split_planes(payload):
    """Well-formed records, taken apart; PACKED ones whose padding is not zeros stay whole."""
    planes = {name: bytearray() for name in PLANE_NAMES}
    words, head, before, at = WordPlanes(planes), bytes(13), 0, 0
    while at < len(payload):
        kind, size, time = struct.unpack_from("<IIQ", payload, at)
        body = payload[at + 16:at + size]
        at += size
        changed = 13 + -(-int.from_bytes(body[4:6], "little") // 8)
        masks = changed + int.from_bytes(body[12:13], "little")
        end = masks + count_bits(body[changed:masks])
        if kind != R_PACKED or any(body[end:end + -end % 8]):
            planes["kinds"].append(2)
            planes["others"] += payload[at - size:at]
            continue
        planes["kinds"].append(int(body[:13] != head))
        planes["heads"] += b"" if body[:13] == head else body[:13]
        planes["times"] += signed_leb(time - before)
        head, before = body[:13], time
        planes["stored"] += body[13:changed]
        planes["changed"] += body[changed:masks]
        planes["masks"] += body[masks:end]
        for word in struct.unpack(f"<{(len(body) - end) // 8}Q", body[end + -end % 8:]):
            words.add(word)
    words.end()
    return planes


def planes_payload(planes, sizes=(), frames=("literals",), more=b""):
    """Writes some planes as zstd frames; sizes: (place in the directory, the value there)."""
    stored = {name: zstd_frame(bytes(plane)) if name in frames else bytes(plane)
              for name, plane in planes.items()}
    stored.update({name: bytes(plane) for name, plane in planes.items()
                   if len(stored[name]) >= len(plane)})
    directory = bytearray(b"".join(struct.pack("<II", len(planes[name]), len(stored[name]))
                                   for name in PLANE_NAMES))
    for place, size in sizes:
        directory[4 * place:4 * place + 4] = struct.pack("<I", size)
    return bytes(directory) + b"".join(stored.values()) + more


# Records ------------------------------------------------------------------------------------------

def header(major=1, minor=0, clock=1, more=b""):
    return record(R_HEADER, struct.pack("<HHI16s", major, minor, clock, b"recording's name") + more)


def info(key, value):
    return record(R_INFO, string(key) + string(value))


IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD, RAW, REGS, STACK, IDENTIFIER = (
    1 << bit for bit in (0, 1, 2, 3, 5, 7, 8, 10, 12, 13, 16))
SAMPLE_TYPE = IDENTIFIER | IP | TID | TIME | ADDR | CPU | PERIOD | CALLCHAIN | REGS | STACK
SAMPLE_ID_ALL = 1 << 18
USE_CLOCKID = 1 << 25
X86_MASK = 0xFF0FFF


def attr(kind, config, sample_type, size=112, stack=1024):
    """A struct perf_event_attr of `size` bytes."""
    stack = stack if sample_type & STACK else 0
    regs = X86_MASK if sample_type & REGS else 0
    data = struct.pack("<IIQQQQQIIQQQQIiQ", kind, size, config, 1, sample_type, 0,
                       SAMPLE_ID_ALL | USE_CLOCKID, 0, 0, 0, 0, 0, regs, stack, 1, 0)
    return (data + bytes(64))[:size]


def event(index, role, name, alias, attr_bytes, pair=NONE, unit="calls", form="", klass=0, account=None):
    return record(R_EVENT, struct.pack("<IIII", index, role, pair, klass) + string(name)
                  + string(alias) + string(unit) + string(attr_bytes) + string(form)
                  + (b"" if account is None else string(account)))


FAULTS, BRK, BRK_ENTER, SIDEBAND = 0, 1, 2, 3
SAMPLE_TYPES = {FAULTS: SAMPLE_TYPE, BRK: SAMPLE_TYPE | RAW,
                BRK_ENTER: IDENTIFIER | TID | TIME | CPU | RAW,
                SIDEBAND: IDENTIFIER | TID | TIME | CPU}
BRK_FORMAT = ("name: sys_exit_brk\nID: 700\nformat:\n"
              "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
              "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n")


def events():
    return (event(FAULTS, 0, "page-faults", "page-faults", attr(1, 2, SAMPLE_TYPES[FAULTS]),
                  unit="faults", klass=1)
            + event(BRK, 0, "syscalls:sys_exit_brk", "brk", attr(2, 700, SAMPLE_TYPES[BRK], 136),
                    pair=BRK_ENTER, form=BRK_FORMAT)
            + event(BRK_ENTER, 1, "syscalls:sys_enter_brk", "brk",
                    attr(2, 701, SAMPLE_TYPES[BRK_ENTER]), pair=BRK)
            + event(SIDEBAND, 2, "dummy", "dummy", attr(1, 9, SAMPLE_TYPES[SIDEBAND]),
                    unit="events"))


def clock(recording=1000, more=b""):
    times = (recording * US, recording * US, 10**18 + recording * US, (recording + 5) * US)
    return record(R_CLOCK, struct.pack("<QQQQ", *times) + more)


def infos():
    facts = (("tool", "make_recording 1"), ("command", "mtrec -e 'page-faults,brk' -- true"),
             ("host", "golden"), ("kernel", "6.1.0"), ("arch", "x86_64"), ("cpus", "2"),
             ("page-size", "4096"), ("target", "command"), ("call-graph", "dwarf,1024"))
    return b"".join(info(*fact) for fact in facts)


def task(pid=100, tid=None, comm="worker", exe="/bin/worker", cmdline="worker\0-x\0", more=b""):
    strings = [exe, cmdline, "0::/user.slice\n", "100"] if tid is None else ["", "", "", ""]
    return record(R_TASK, struct.pack("<iiiIQ", pid, pid if tid is None else tid, 1, 1000, 5555)
                  + string(comm) + b"".join(map(string, strings)) + more)


def map_record(start=0x400000, end=0x500000, path="/bin/worker", prot=5, more=b""):
    return record(R_MAP, struct.pack("<iIIIIQQQQQQ", 100, prot, 2, 8, 1, 4242, start, end, 0,
                                     900 * US, 950 * US) + string(path) + more)


def image(path="/bin/worker", build_id=bytes(range(20)), problem="", started=None, more=b""):
    return record(R_IMAGE, struct.pack("<IIQQQ", 8, 1, 4242, 7, 123456) + string(path)
                  + string(build_id) + string(problem) + (b"" if started is None else string(started)) + more)


def loss(count=3, source=1, event_index=FAULTS, more=b""):
    body = struct.pack("<IIQQQI", 0, event_index, 2000 * US, 2500 * US, count, source)
    return record(R_LOSS, body + more)


def note(text="the ring is small", level=1):
    return record(R_NOTE, struct.pack("<I", level) + string(text))


def gauge(time, name="RssAnon", value=1 << 20, pid=100, start=77):
    return record(R_GAUGE, struct.pack("<iIQQQQ", pid, 0, start, (time - 5) * US, time * US, value)
                  + string(name), time)


def reread(time, start=0x400000, end=0x500000):
    return record(R_REREAD, struct.pack("<iIIIIQQQQQQ", 100, 5, 2, 8, 1, 4242, start, end, 0,
                                        (time - 5) * US, time * US) + string("/bin/worker"), time)


def weight(time, event_index=FAULTS, numerator=1, denominator=1):
    return record(R_WEIGHT, struct.pack("<IIQQ", event_index, 0, numerator, denominator), time)


def mark(limit, samples=0, lost=0):
    return record(R_MARK, struct.pack("<QQQ", limit * US, samples, lost), limit)


def end(samples, written, lost=3, until=9000):
    return record(R_END, struct.pack("<QQQQQQII", 1000 * US, until * US, samples, lost, 4096,
                                     written, 1, 0),
                  until)


# The kernel's records -----------------------------------------------------------------------------

def perf_record(kind, body, misc=MISC_USER, size=None):
    body = pad(body)
    return struct.pack("<IHH", kind, misc, 8 + len(body) if size is None else size) + body


def sample_id(time, pid=100, tid=100):
    return struct.pack("<IIQIIQ", pid, tid, time * US, 0, 0, 77)


def kernel_sample(event_index, time, asked=0, valid=0, tid=100, chain=(0x400100, 0x400200), sp=0x7FFF0000):
    """(the kernel's record without the dump's bytes, the cut)."""
    kind = SAMPLE_TYPES[event_index]
    body = struct.pack("<Q", 77)
    body += struct.pack("<Q", 0x400100) if kind & IP else b""
    body += struct.pack("<IIQ", 100, tid, time * US)
    body += struct.pack("<Q", 0x7000000) if kind & ADDR else b""
    body += struct.pack("<II", 1, 0)
    body += struct.pack("<Q", 1) if kind & PERIOD else b""
    if kind & CALLCHAIN:
        ips = (-512 & (1 << 64) - 1,) + tuple(chain)
        body += struct.pack(f"<Q{len(ips)}Q", len(ips), *ips)
    if kind & RAW:
        body += struct.pack("<IHBBiiiQI", 28, 700, 0, 0, 100, 12, 0, 0x9000, 0)
    if kind & REGS:
        values = [0x1000 + n for n in range(20)]
        values[6:9] = min(sp + 0x800, 1 << 63), sp, 0x400100  # the frame pointer is past the dump
        body += struct.pack("<Q20Q", 2, *values)
    cut = None
    if kind & STACK:
        body += struct.pack("<Q", asked)
        cut = 8 + len(body)
        body += struct.pack("<Q", valid) if asked else b""
    return perf_record(PERF_SAMPLE, body, size=8 + len(body) + asked), cut


def kernel(event_index, kernel_record, time, **over):
    size = over.get("kernel_size", len(kernel_record))
    return record(R_KERNEL, struct.pack("<II", event_index, size) + kernel_record
                  + over.get("more", b""),
                  time)


def sample(event_index, time, asked=1024, valid=256, kernel_event=None, **over):
    """A SAMPLE record; `over` replaces one of its fields, whatever that breaks."""
    kernel_record, cut = kernel_sample(event_index if kernel_event is None else kernel_event, time,
                                       asked, valid, chain=over.get("chain", (0x400100, 0x400200)))
    stack = struct.pack("<4Q", 0x400200, 0, 0x400300, 0) + bytes(max(0, valid - 32))
    stack = stack[:valid]
    reported = dict(kernel_size=len(kernel_record), cut=cut, dump_asked=asked, dump_size=valid,
                coding=0, coded_size=len(stack), zero=0)
    reported.update({k: v for k, v in over.items() if k in reported})
    return record(R_SAMPLE, struct.pack("<8I", event_index, *reported.values()) + kernel_record + stack
                  + over.get("more", b""), time)


class Coder:
    """Codes dumps and samples (sections 7.1 and 7.2): make one for each chunk."""

    def __init__(self):
        self.images = {}
        self.references = {}  # (slot, number) -> its time, then place -> word

    def coded(self, slot, address, dump):
        bits, masks, words = self.differing(slot, address, dump)
        return pad(struct.pack("<IIQ", slot, 0, address) + bits + masks) + words

    def kernel_words(self, slot, time, kernel_record):
        """(which words of it are stored, those words)."""
        values = struct.unpack(f"<{len(kernel_record) // 8}Q", kernel_record)
        count, bits, stored = len(values), 0, b""
        old_time, old = self.references.get((slot, count % 4), (0, {}))
        new = dict(old)
        for i, value in enumerate(values):
            place = i if i < 8 else 128 - (count - i)
            known = old.get(place, 0) if i < 8 or count - i <= 120 else 0
            if known and known == old_time:
                known = time
            elif known and i > 2 and known == old.get(2, 0):
                known = values[2]
            if value != known:
                bits |= 1 << i
                stored += struct.pack("<Q", value)
            if i < 8 or count - i <= 120:
                new[place] = value
        self.references[slot, count % 4] = time, new
        return bits.to_bytes(-(-count // 8), "little"), stored

    def differing(self, slot, address, dump):
        """(bits of the changed lines, masks, words)."""
        image = self.images.setdefault(slot, {})  # byte's place -> byte
        changed, masks, words = 0, b"", b""
        first = address // 64 * 64
        lines = range(first, address + len(dump), 64)
        for number, line in enumerate(lines):
            mask = 0
            for bit in range(8):
                at = line + 8 * bit
                word = dump[at - address:at - address + 8] if at >= address else b""
                if word and word != image.get(at % 65536, bytes(8)):
                    image[at % 65536] = word
                    mask |= 1 << bit
                    words += word
            if mask:
                changed |= 1 << number
                masks += bytes([mask])
        return changed.to_bytes(-(-len(lines) // 8), "little"), masks, words


SP_BACK = 14  # words from the stack pointer to the cut, of kernel_sample()'s 20 registers


def packed_sample(coder, time, dump=b"", slot=0, address=0x7FFE00001000, **over):
    """A PACKED record. over: asked=0 for no dump; spoil, which changes its bytes; event; chain; a field."""
    index, asked = over.get("event_index", FAULTS), over.get("asked", 65000)
    kernel_record, cut = kernel_sample(index, time, asked, len(dump),
                                       chain=over.get("chain", (0x400100, 0x400200)), sp=address)
    count, tail = len(kernel_record) // 8, (len(kernel_record) - cut) // 8 if asked else 0
    stored, kernel_words = coder.kernel_words(slot, time * US, kernel_record)
    bits, masks, words = coder.differing(slot, address, dump) if dump else (b"", b"", b"")
    bits = bits.rstrip(b"\0") + bytes(over.get("zeros", 0))
    reported = dict(words=count, tail=tail, slot=slot, sp=SP_BACK if asked else 0, lines=len(bits))
    reported.update({k: v for k, v in over.items() if k in reported})
    body = struct.pack("<I4HB", index, *reported.values()) + stored + bits + masks
    body += bytes(-len(body) % 8) + kernel_words + words
    body = over.get("spoil", bytes)(bytearray(body))
    return record(R_PACKED, body[:over.get("size", NONE) - 16], time)


def coded_sample(coder, time, dump, slot=0, address=0x7FFE00001000, spoil=None, **over):
    """A SAMPLE whose dump is coded; spoil changes the coded bytes."""
    kernel_record, cut = kernel_sample(FAULTS, time, 65000, len(dump))
    coded = coder.coded(slot, address, dump)
    coded = spoil(bytearray(coded)) if spoil else coded
    reported = dict(kernel_size=len(kernel_record), cut=cut, dump_asked=65000, dump_size=len(dump),
                coding=1, coded_size=len(coded), zero=0)
    reported.update(over)
    reported.pop("size", None)
    fields = struct.pack("<8I", FAULTS, *reported.values())
    return record(R_SAMPLE, (fields + kernel_record + coded)[:over.get("size", NONE) - 16], time)


def frames(event_index, time, pcs=(0x400100, 0x400205), sources=(0, 0x82), end=0, **over):
    """A FRAMES record; `over` replaces one of its fields. With asked=0, it is one of a sample without a dump."""
    asked = over.get("asked", 1024)
    kernel_record, cut = kernel_sample(event_index, time, asked, 256)
    reported = dict(kernel_size=len(kernel_record), cut=cut if asked else 0, dump_asked=asked,
                count=len(pcs), end=end, walked=over.get("walked", end))
    reported.update({k: v for k, v in over.items() if k in reported})
    places = over.get("places", ())  # stack pointer, boundary, steps
    if places:
        places = bytes(-len(pcs) % 8) + struct.pack(f"<2Q{len(pcs)}I", *places)
    return record(R_FRAMES, struct.pack("<5I2H", event_index, *reported.values())
                  + kernel_record + struct.pack(f"<{len(pcs)}Q", *pcs) + bytes(sources)
                  + bytes(places), time)


def plain_sample(event_index, time, **over):
    """A sample without a dump, in a KERNEL record."""
    return kernel(event_index, kernel_sample(event_index, time, **over)[0], time)


def side_band(time):
    """One of each: a map, a comm, a fork, an exit."""
    records = (
        perf_record(MMAP2, struct.pack("<IIQQQIIQQII", 100, 100, 0x500000, 0x1000, 0, 8, 1, 4242,
                                       7, 5, 2)
                    + pad(b"/lib/libx.so\0") + sample_id(time)),
        perf_record(MMAP, struct.pack("<IIQQQ", 100, 100, 0x600000, 0x1000, 0) + pad(b"//anon\0")
                    + sample_id(time + 1)),
        perf_record(COMM, struct.pack("<II", 100, 100) + pad(b"renamed\0") + sample_id(time + 2)),
        perf_record(FORK, struct.pack("<IIIIQ", 101, 100, 101, 100, (time + 3) * US)
                    + sample_id(time + 3)),
        perf_record(EXIT, struct.pack("<IIIIQ", 101, 100, 101, 100, (time + 4) * US)
                    + sample_id(time + 4)))
    return b"".join(kernel(SIDEBAND, r, time + n) for n, r in enumerate(records))
