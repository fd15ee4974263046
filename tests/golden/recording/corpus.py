#!/usr/bin/env python3
"""Small recordings that exercise each chunk and record type, codec and kind of damage. For each there are the bytes, and the facts that
a reader must find in them; tests/golden/sweep.py compares scripts/mtdump with these.

    tests/golden/recording/corpus.py DIR         writes all as DIR/NAME.mtr
    tests/golden/recording/corpus.py DIR NAME... writes the named ones
"""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from encoder import *  # noqa: E402, F401, F403

# Recordings ---------------------------------------------------------------------------------------

def begun(head_more=b"", **options):
    """Returns a writer that has written its HEAD chunk."""
    writer = Writer()
    for name, value in options.items():
        setattr(writer, name, value)
    return writer.chunk(HEAD, header() + infos() + clock() + events() + head_more)


def state(writer):
    return writer.chunk(STATE, task(), task(tid=102, comm="thread"), map_record(), image())


def ended(writer, samples, **fields):
    start = writer.data.rfind(MAGIC + struct.pack("<H", HEAD))
    return writer.chunk(END, end(samples, len(writer.data) - start), **fields).data


def faults(*times):
    return b"".join(sample(FAULTS, time) for time in times)


RECORDINGS = {}  # name -> (function that gives the bytes, what a reader must find)


def recording(samples=None, check=None, status=0, order=None, dumps=None, outside=0, info=None,
              **damage):
    """The facts that a reader must find in a recording.

    samples: by event index; a list where there are several recordings; None where there is none.
    check: a part of what --check says, or None if nothing violates FORMAT.md.
    status: mtreport's exit status. order: the times of all DATA records. dumps: the bytes of each
    sample's dump, in order. outside: bytes that are in no recording. info: what INFO says.
    damage: the figures that are not 0, and `refused`.
    """
    def register(make):
        want = dict(samples=samples, check=check, status=status, order=order, dumps=dumps,
                    outside=outside, info=info or {}, damage=damage)
        RECORDINGS[make.__name__] = (make, want)
        return make
    return register


def all_types(writer):
    state(writer)
    writer.chunk(STATE, loss(), note(), clock(2000), info("later", "too"))
    writer.chunk(DATA, side_band(1100), weight(1150), faults(1200, 1300), stream=0)
    writer.chunk(DATA, plain_sample(BRK_ENTER, 1190), sample(BRK, 1250), plain_sample(BRK, 1260),
                 stream=1)
    writer.chunk(MARK, mark(1400, 4))
    writer.chunk(DATA, faults(1500, 1600), stream=0)
    return ended(writer, 6)


ALL = {FAULTS: 4, BRK: 2, BRK_ENTER: 1}


@recording(ALL, order=[1100, 1101, 1102, 1103, 1104, 1150, 1190, 1200, 1250, 1260, 1300, 1500,
                       1600])
def stored():
    return all_types(begun())


@recording({FAULTS: 2})
def gauges_and_maps_read_again():
    writer = state(begun())
    writer.chunk(STATE, gauge(1500), gauge(1500, "new to us", 0), reread(1600))
    writer.chunk(DATA, faults(1200, 1300), stream=0)
    return ended(writer, 2)


@recording(ALL)
def zstd():
    return all_types(begun(codec=ZSTD))


@recording(ALL)
def zstd_of_several_frames():
    return all_types(begun(codec=ZSTD, frames=3))


@recording({FAULTS: 5}, order=[1000, 1000, 1001, 1001, 1002])
def streams_of_equal_times():
    writer = state(begun())
    writer.chunk(DATA, faults(1000, 1001), stream=2).chunk(DATA, faults(1001, 1000, 1002), stream=1)
    return ended(writer, 5)


@recording({FAULTS: 6}, order=[1000, 1010, 1020, 1030, 1040, 1050])
def unsorted_within_a_chunk():
    writer = state(begun())
    writer.chunk(DATA, faults(1020, 1000, 1040), stream=0)
    writer.chunk(DATA, faults(1050, 1010, 1030), stream=1)
    return ended(writer, 6)


ANOMALY = ("two words", "", b"\xff\xfe\x00bytes", "line\nbreak;semi", "\x1b[31mred", "漢字",
       "x" * 5000)


@recording({FAULTS: 1})
def odd_strings():
    writer = begun(b"".join(info(text, text) for text in ANOMALY))
    writer.chunk(STATE,
                 *[task(200 + n, comm=text, exe=text, cmdline=text) for n, text in enumerate(ANOMALY)],
                 *[map_record(0x1000 * n, 0x2000 * n, text) for n, text in enumerate(ANOMALY, 1)],
                 *[image(text, text, text) for text in ANOMALY], *[note(text) for text in ANOMALY])
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 2})
def padding_of_every_length():
    writer = state(begun())
    writer.chunk(STATE, *[info("k" * n, "v" * m) for n in range(9) for m in range(9)])
    writer.chunk(DATA, sample(FAULTS, 1000, valid=8), sample(FAULTS, 1001, valid=1024))
    return ended(writer, 2)


@recording({FAULTS: 2})
def a_later_minor_version():
    """Fields after the known ones, in every record."""
    more = bytes(range(1, 41))
    writer = Writer()
    writer.chunk(HEAD, header(minor=7, more=more), infos(), clock(more=more), events())
    writer.chunk(STATE, task(more=more), map_record(more=more), image(started="", more=more), loss(more=more))
    writer.chunk(DATA, sample(FAULTS, 1000, more=more),
                 kernel(FAULTS, kernel_sample(FAULTS, 1001)[0], 1001, more=more))
    return ended(writer, 2)


@recording({FAULTS: 2}, unknown_chunks=2)
def unknown_optional_chunks():
    writer = state(begun()).chunk(DATA, faults(1000)).chunk(77, b"what a later version says")
    writer.chunk(MARK, b"in a codec of later versions", codec=9, records=1)
    return ended(writer.chunk(DATA, faults(1100)), 2)


CALLS = {"mmap": (10, 9), "munmap": (11, 11), "mremap": (12, 25), "brk": (13, 12)}
CALL_TYPE = IDENTIFIER | TID | TIME | CPU | RAW | REGS
MINOR, MINOR_TYPE = 14, IDENTIFIER | IP | TID | TIME | ADDR | CPU


def call(name, time, result, *arguments, pid=100, chain=()):
    """The exit of a call, with the registers that hold its arguments, and with a call chain if the attr has CALLCHAIN."""
    index, number = CALLS[name]
    values = [0] * 20
    for bit, value in zip((5, 4, 3, 18, 16, 17), arguments):
        values[bin(X86_MASK & (1 << bit) - 1).count("1")] = value
    body = struct.pack("<QIIQII", 77, pid, pid, time * US, 1, 0)
    if chain:
        body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
    body += struct.pack("<IHBBiiiqI", 28, 700 + index, 0, 0, 100, number, 0, result, 0)
    body += struct.pack("<Q20Q", 2, *values)
    return kernel(index, perf_record(PERF_SAMPLE, body), time)


def minor_fault(time, address, misc=MISC_USER):
    body = struct.pack("<QQIIQQII", 77, 0x400100, 100, 100, time * US, address, 1, 0)
    return kernel(MINOR, perf_record(PERF_SAMPLE, body, misc), time)


def mapped(time, start, size, name, prot=3):
    body = struct.pack("<IIQQQIIQQII", 100, 100, start, size, 0, 8, 1, 4242, 7, prot, 2)
    return kernel(SIDEBAND, perf_record(MMAP2, body + pad(name + b"\0") + sample_id(time)), time)


@recording({index: count for index, count in ((10, 4), (11, 2), (12, 2), (13, 4), (MINOR, 8))})
def memory_calls():
    """Calls that reserve memory and give it back, some of which fail, and faults in each kind of memory."""
    described = [event(index, 0, "syscalls:sys_exit_" + name, name,
                       attr(2, 700 + index, CALL_TYPE, 136)) for name, (index, _) in CALLS.items()]
    described.append(event(MINOR, 0, "minor-faults", "minor-faults", attr(1, 5, MINOR_TYPE),
                           unit="faults", klass=1))
    writer = state(begun(b"".join(described)))
    writer.chunk(DATA, call("brk", 1100, 0x600000, 0), call("brk", 1101, 0x621000, 0x621000),
                 mapped(1102, 0x600000, 0x21000, b"[heap]"),
                 call("brk", 1103, 0x621000, 1 << 46), call("brk", 1104, 0x610000, 0x610000),
                 mapped(1109, 0x7F0000000000, 0x2000, b"/data/a,b \"c\""),
                 call("mmap", 1110, 0x7F0000000000, 0, 0x1800, 1, 2, 5, 0x3000),
                 mapped(1119, 0x7F0000100000, 0x200000, b"//anon"),
                 call("mmap", 1120, 0x7F0000100000, 0, 0x200000, 3, 0x20022 | 0x40000 | 21 << 26,
                      NONE, 0),
                 call("mmap", 1130, -12, 0, 1 << 46, 0, 0x22, NONE, 0),
                 call("mmap", 1131, -9, 0, 4096, 0x80, 0x1000F, 99, 0),
                 call("mremap", 1140, 0x7F0000300000, 0x7F0000100000, 0x200000, 0x400000, 1),
                 call("mremap", 1141, -14, 0x1000, 0x1000, 0x2000, 0),
                 call("munmap", 1150, 0, 0x7F0000000000, 0x2000),
                 call("munmap", 1151, -22, 1, 4096))
    writer.chunk(DATA, mapped(1199, 0x7FFE00000000, 0x21000, b"[stack]"),
                 *[minor_fault(1200 + n, address) for n, address in enumerate((
                     0x600010, 0x601010, 0x7F0000000001, 0x7F0000100001, 0x7FFE00000008, 0x400100,
                     0x1))],
                 minor_fault(1210, 0xFFFFFFFF81000000, 1), stream=1)
    return ended(writer, 20)


def carried(kind, path, content, build_id=b"", kept=0, time=0):
    """A FILE record of one part."""
    fields = struct.pack("<7I4Qi", kind, 0, kept, 0, 1, 8, 1, 4242, 0, 0, len(content), 100)
    return record(13, fields + string(path) + string(build_id) + string(content), time)


@recording({FAULTS: 1})
def a_carried_file():
    writer = state(begun()).chunk(FILE, carried(4, b"/tmp/perf-100.map", b"400000 1000 jitted\n"))
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({}, check="refused: critical chunk of unknown type 77", status=3, refused="type 77",
           unknown_chunks=1)
def an_unknown_critical_chunk():
    return ended(state(begun()).chunk(DATA, faults(1000)).chunk(77, b"needed", flags=1), 1)


@recording({}, check="refused: critical chunk of unknown codec 9", status=3, refused="codec 9",
           unknown_chunks=1)
def an_unknown_codec():
    return ended(state(begun()).chunk(DATA, faults(1000)).chunk(DATA, b"packed..", codec=9), 1)


@recording({FAULTS: 2}, unknown_records=2)
def unknown_records():
    writer = state(begun()).chunk(STATE, record(99, b"state"))
    return ended(writer.chunk(DATA, faults(1000), record(98, b"data", 1001), faults(1002)), 2)


@recording({FAULTS: 1}, check="critical record of unknown type 98", damaged_chunks=1)
def an_unknown_critical_record():
    needed = record(98 | CRITICAL, b"needed", 1002)
    writer = state(begun()).chunk(DATA, faults(1000, 1001), needed, faults(1003))
    return ended(writer.chunk(DATA, faults(1100)), 1)


@recording({FAULTS: 2})
def known_records_with_the_critical_bit():
    bit = struct.pack("<I", R_SAMPLE | CRITICAL)
    return ended(state(begun()).chunk(DATA, bit + faults(1000)[4:], bit + faults(1001)[4:]), 2)


@recording({}, check="refused: version 2.0", status=3, refused="version 2.0")
def another_major_version():
    writer = Writer().chunk(HEAD, header(major=2) + infos() + clock() + events())
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording(None, status=3)
def no_header():
    return ended(Writer().chunk(HEAD, infos() + clock() + events()).chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 1, BRK: 1})
def events_described_later():
    writer = Writer().chunk(HEAD, header() + infos() + clock()).chunk(DATA, faults(1000))
    return ended(writer.chunk(STATE, events()).chunk(DATA, sample(BRK, 1100)), 2)


@recording({FAULTS: 1}, check="described twice")
def an_event_described_twice():
    writer = begun().chunk(STATE, event(FAULTS, 2, "imposter", "imposter", attr(1, 9, TID | TIME)))
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 1}, check="event 55 is not described", undecodable_records=1)
def a_sample_of_no_event():
    writer = state(begun()).chunk(DATA, faults(1000), sample(55, 1001, kernel_event=FAULTS))
    return ended(writer, 1)


@recording({}, status=4)
def no_samples():
    return ended(state(begun()).chunk(DATA, side_band(1000)), 0)


@recording({}, status=4, cut_short=True)
def a_head_alone():
    return begun().data


@recording(None, status=3)
def empty():
    return b""


@recording(None, status=3)
def foreign():
    return b"no recording" * 416 + b"........"


@recording({FAULTS: 2})
def an_empty_chunk():
    writer = state(begun()).chunk(DATA, faults(1000)).chunk(DATA).chunk(STATE)
    return ended(writer.chunk(DATA, faults(1100)), 2)


@recording({FAULTS: 3}, order=[1000, 0, 1100, 0, 1200, 0])
def data_of_time_0():
    """Such a record follows the one before it, or is the first of its chunk."""
    early = late = kernel(SIDEBAND, perf_record(99, b""), 0)
    writer = state(begun()).chunk(DATA, faults(1000), early, faults(1100), stream=0)
    return ended(writer.chunk(DATA, late, faults(1200), late, stream=1), 3)


@recording({FAULTS: 1})
def a_loss_reported_twice():
    writer = state(begun()).chunk(STATE, loss(5, source=1), loss(7, source=2))
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 2}, check="reserved bits or bytes are not 0")
def reserved_bits():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001), flags=0xFFFF), 2)


@recording({FAULTS: 2}, check="the critical flag is not the table's")
def a_known_type_without_its_critical_bit():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001), flags=0), 2)


@recording({FAULTS: 2}, check="3 records where 4 are told")
def a_false_count_of_records():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001), weight(1002), records=4), 2)


@recording({FAULTS: 3}, check="last_time is not the largest time")
def a_false_last_time():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001, 1002), last_time=1001 * US), 3)


@recording({FAULTS: 4}, check="1 records out of order", disordered=1,
           order=[1000, 1400, 1100, 1500])
def a_false_first_time():
    """A chunk whose header claims a later start than its own is read late."""
    writer = state(begun()).chunk(DATA, faults(1000, 1400), stream=0)
    return ended(writer.chunk(DATA, faults(1100, 1500), stream=1, first_time=1450 * US), 4)


@recording({FAULTS: 2}, check="records below the T of a MARK before them")
def a_broken_promise():
    writer = state(begun()).chunk(DATA, faults(1500)).chunk(MARK, mark(1400, 1))
    return ended(writer.chunk(DATA, faults(1300)), 2)


@recording({FAULTS: 2}, check="3 samples reported, 2 are in the file")
def a_false_total():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001)), 3)


@recording({FAULTS: 1}, check="MAP in a DATA chunk")
def a_record_in_the_wrong_chunk():
    return ended(state(begun()).chunk(DATA, map_record(), faults(1000)), 1)


@recording({FAULTS: 2, BRK: 1}, check="EVENT in a DATA chunk", order=[500, 0, 1000, 1000, 901])
def records_in_wrong_chunks():
    """All records are read, except MARK and END; records next to these are read, too."""
    writer = Writer().chunk(HEAD, header(), task(), event(FAULTS, 0, "page-faults", "page-faults",
                                                          attr(1, 2, SAMPLE_TYPES[FAULTS])))
    writer.chunk(STATE, faults(500), weight(0), end(9, 9), mark(9), header(major=2))
    writer.chunk(DATA, faults(1000), map_record(), events(), sample(BRK, 1000), end(9, 9))
    writer.chunk(MARK, mark(900), record(R_TASK, bytes(8)), faults(901))
    return ended(writer, 3)


@recording({FAULTS: 1}, info={"host": "second"})
def an_info_reported_twice():
    """The last one is valid."""
    writer = state(begun()).chunk(STATE, info("host", "first"), info("host", "second"))
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 1}, check="damaged WEIGHT: denominator 0", damaged_records=1)
def a_weight_of_nothing():
    return ended(state(begun()).chunk(DATA, weight(999, denominator=0), faults(1000)), 1)


@recording({FAULTS: 1}, check="the sequence is not one above")
def a_head_of_another_sequence():
    writer = Writer().lose(7).chunk(HEAD, header() + infos() + clock() + events())
    return ended(writer.chunk(DATA, faults(1000)), 1)


@recording({FAULTS: 1}, check="does not follow event 0's attr", undecodable_records=1)
def a_kernel_record_that_breaks_its_attr():
    """A callchain that claims to reach past the record."""
    broken = bytearray(kernel_sample(FAULTS, 1001)[0])
    struct.pack_into("<Q", broken, 64, 1 << 40)
    return ended(state(begun()).chunk(DATA, faults(1000), kernel(FAULTS, bytes(broken), 1001)), 2)


# Damage -------------------------------------------------------------------------------------------

def three_chunks():
    """HEAD, STATE and three DATA chunks of two faults each, and where each chunk begins."""
    writer, starts = begun(), []
    starts.append(len(writer.data))
    state(writer)
    for time in (1000, 1100, 1200):
        starts.append(len(writer.data))
        writer.chunk(DATA, faults(time, time + 1))
    starts.append(len(writer.data))
    return writer, starts


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:]


def three_and_end():
    writer, starts = three_chunks()
    return ended(writer, 6), starts


def inserted(index, more):
    """three_and_end() with bytes before its chunk of that index."""
    data, starts = three_and_end()
    return data[:starts[index]] + more + data[starts[index]:]


CHUNK = len(faults(1000, 1001))  # bytes of payload
HEAD_SIZE = len(begun().data)


@recording({FAULTS: 6}, cut_short=True)
def cut_after_a_chunk():
    return three_chunks()[0].data


@recording({FAULTS: 6}, check="40 bytes that are no chunk", cut_short=True, skipped_bytes=40)
def cut_in_a_header():
    data, starts = three_and_end()
    return data[:starts[4] + 40]


@recording({FAULTS: 6}, check="3 bytes that are no chunk", cut_short=True, skipped_bytes=3)
def cut_in_the_magic():
    data, starts = three_and_end()
    return data[:starts[4] + 3]


@recording({FAULTS: 4}, check="damaged: cut off", cut_short=True, damaged_chunks=1,
           skipped_bytes=164)
def cut_in_a_payload():
    return three_chunks()[0].data[:-CHUNK + 100]


@recording({FAULTS: 4}, check="damaged: crc differs", damaged_chunks=1, skipped_bytes=CHUNK + 64)
def a_flipped_bit_in_a_payload():
    data, starts = three_and_end()
    return flipped(data, starts[2] + 200)


@recording({FAULTS: 4}, check="the sequence is not one above", missing_chunks=1,
           skipped_bytes=CHUNK + 64)
def a_flipped_bit_in_a_header():
    data, starts = three_and_end()
    return flipped(data, starts[2] + 30)


@recording({FAULTS: 4}, check="the sequence is not one above", missing_chunks=1,
           skipped_bytes=CHUNK + 64)
def a_flipped_bit_in_a_magic():
    data, starts = three_and_end()
    return flipped(data, starts[2] + 2)


@recording({FAULTS: 6}, check="22 bytes that are no chunk", skipped_bytes=22)
def bytes_between_chunks():
    return inserted(2, b"garbage" + MAGIC + b"garbage")


@recording({FAULTS: 6}, check="15 bytes that are in no recording", outside=15)
def bytes_before_the_head():
    return b"garbage" + MAGIC + three_and_end()[0]


@recording(None, status=3)
def chunks_without_a_head():
    data, starts = three_and_end()
    return data[starts[0]:]


@recording({BRK: 1}, check="bytes that are in no recording", outside=512 + 3 * (CHUNK + 64) + 72)
def chunks_before_the_head():
    data, starts = three_and_end()
    return data[starts[0]:] + one_brk()


@recording({FAULTS: 6}, check="bytes that are in no recording", outside=CHUNK + 64)
def a_chunk_after_the_end():
    writer, _ = three_chunks()
    ended(writer, 6)
    return writer.chunk(DATA, faults(1000, 1001)).data


@recording(None, status=3)
def a_damaged_head():
    return flipped(three_and_end()[0], 100)


@recording({FAULTS: 1}, check="MARK in a END chunk", cut_short=True)
def an_end_chunk_without_an_end():
    return state(begun()).chunk(DATA, faults(1000)).chunk(END, mark(1001)).data


@recording({FAULTS: 2}, check="too many for its type", damaged_chunks=1, skipped_bytes=4184)
def a_mark_too_large():
    writer = state(begun()).chunk(DATA, faults(1000)).chunk(MARK, mark(1000) + bytes(4080))
    return ended(writer.chunk(DATA, faults(1100)), 2)


@recording({}, check="refused: critical chunk of unknown codec 9", status=3, refused="codec 9",
           unknown_chunks=1)
def an_unknown_codec_of_data_that_is_not_flagged():
    writer = state(begun()).chunk(DATA, faults(1000))
    return ended(writer.chunk(DATA, b"packed..", codec=9, flags=0), 1)


@recording({FAULTS: 6}, check="9 bytes that are in no recording", outside=9)
def bytes_after_the_end():
    return three_and_end()[0] + b"leftovers"


@recording({FAULTS: 6}, check="bytes that are no chunk", skipped_bytes=64)
def a_header_that_claims_too_much():
    """A header with raw_size above 64 MiB is not a chunk, although its checksum is right."""
    return inserted(2, chunk_header(DATA, b"", codec=ZSTD, raw_size=(64 << 20) + 8))


@recording({FAULTS: 6}, check="bytes that are no chunk", skipped_bytes=64)
def a_header_that_stores_more_than_it_holds():
    return inserted(2, chunk_header(DATA, b"", codec=ZSTD, stored_size=16, raw_size=8))


def false_header(sequence, **fields):
    return chunk_header(DATA, b"", stored_size=1000, raw_size=1000, sequence=sequence,
                        first_time=1, last_time=1, **fields)


@recording({FAULTS: 6}, check="damaged: crc differs", damaged_chunks=1, skipped_bytes=64)
def a_false_stored_size():
    """A good header claims the next chunks as its payload; readers still find these chunks."""
    return inserted(1, false_header(77))


@recording({FAULTS: 6}, check="damaged: cut off", damaged_chunks=1, skipped_bytes=64)
def a_false_stored_size_past_the_end():
    return inserted(1, chunk_header(DATA, b"", stored_size=1 << 20, raw_size=1 << 20, sequence=77))


@recording({FAULTS: 6}, check="damaged: crc differs", damaged_chunks=1, skipped_bytes=64)
def a_false_header_with_the_next_sequence():
    """The next chunk has the same number, and still belongs to the recording."""
    return inserted(1, false_header(2))


@recording({FAULTS: 4}, check="the sequence is not one above", missing_chunks=1)
def a_missing_chunk():
    data, starts = three_and_end()
    return data[:starts[2]] + data[starts[3]:]


@recording({FAULTS: 2}, check="damaged: does not decompress", damaged_chunks=1, skipped_bytes=112)
def bytes_that_are_no_zstd():
    writer = state(begun()).chunk(DATA, faults(1000)).lose(0)
    writer.raw(chunk_header(DATA, b"never zstd, what" * 3, codec=ZSTD, raw_size=100, sequence=3))
    writer.raw(b"never zstd, what" * 3).lose()
    return ended(writer.chunk(DATA, faults(1100)), 2)


@recording({FAULTS: 2}, check="damaged: decompresses to 1008 bytes", damaged_chunks=1,
           skipped_bytes=93)
def a_false_raw_size():
    packed = zstd_frame(bytes(1008))[:-4] + struct.pack("<I", 1008 << 3 | 1 << 1 | 1)[:3] + b"\0"
    packed += b"\x50\x2a\x4d\x18\x08\0\0\0" + bytes(8)  # a skippable frame
    writer = state(begun()).chunk(DATA, faults(1000))
    writer.raw(chunk_header(DATA, packed, codec=ZSTD, raw_size=1016, sequence=3) + packed).lose()
    return ended(writer.chunk(DATA, faults(1100)), 2)


@recording({FAULTS: 2}, unknown_chunks=1)
def a_damaged_chunk_of_unknown_type():
    """Chunks that are skipped are not checked."""
    writer = state(begun()).chunk(DATA, faults(1000)).chunk(77, b"what later says.", crc=1)
    return ended(writer.chunk(DATA, faults(1100)), 2)


@recording({FAULTS: 6}, check="damaged: crc differs", damaged_chunks=1, skipped_bytes=136,
           cut_short=True)
def a_damaged_end():
    data, starts = three_and_end()
    return flipped(data, len(data) - 1)


def broken_tail(size):
    """Two faults, then a record header of that size, then two more that cannot be found."""
    tail = struct.pack("<IIQ", R_SAMPLE, size, 1002)
    writer = state(begun()).chunk(DATA, faults(1000, 1001), tail, faults(1003, 1004),
                                  last_time=1001 * US, records=2)
    return ended(writer.chunk(DATA, faults(1100)), 3)


@recording({FAULTS: 3}, check="the rest is damaged", damaged_records=1)
def a_record_of_size_0():
    return broken_tail(0)


@recording({FAULTS: 3}, check="the rest is damaged", damaged_records=1)
def a_record_of_odd_size():
    return broken_tail(20)


@recording({FAULTS: 3}, check="the rest is damaged", damaged_records=1)
def a_record_past_the_payload():
    return broken_tail(1 << 20)


@recording({FAULTS: 2}, check="the rest is damaged", damaged_records=1)
def a_payload_with_8_bytes_left():
    return ended(state(begun()).chunk(DATA, faults(1000, 1001), b"8 bytes!", records=2), 2)


@recording({FAULTS: 1}, check="damaged MARK", damaged_records=1)
def a_mark_too_short():
    return ended(state(begun()).chunk(DATA, faults(1000)).chunk(MARK, record(R_MARK, bytes(8))), 1)


@recording({FAULTS: 1}, check="damaged END", damaged_records=1, cut_short=True)
def an_end_too_short():
    return state(begun()).chunk(DATA, faults(1000)).chunk(END, record(R_END, bytes(40))).data


@recording({FAULTS: 2}, check="damaged TASK", damaged_records=6)
def bodies_too_short():
    writer = begun().chunk(STATE, record(R_TASK, bytes(8)), record(R_MAP, bytes(8)),
                           record(R_IMAGE, bytes(8)), record(R_LOSS, bytes(8)),
                           record(R_INFO, struct.pack("<I", 1 << 30) + b"long"))
    return ended(writer.chunk(DATA, record(R_SAMPLE, bytes(16), 999), faults(1000, 1001)), 2)


def broken_sample(**over):
    writer = state(begun()).chunk(DATA, faults(1000), sample(FAULTS, 1001, **over), faults(1002))
    return ended(writer, 2)


BROKEN_SAMPLES = {
    "kernel_size_too_small": dict(kernel_size=256),
    "kernel_size_odd": dict(kernel_size=260),
    "kernel_size_huge": dict(kernel_size=NONE),
    "cut_outside": dict(cut=100000),
    "cut_elsewhere": dict(cut=64),
    "cut_0": dict(cut=0),
    "cut_odd": dict(cut=268),
    "no_dump": dict(asked=0, valid=0),
    "dump_asked_differs": dict(dump_asked=2048),
    "dump_size_above_asked": dict(valid=2048),
    "dump_size_differs": dict(dump_size=248, coded_size=248),
    "coded_size_differs": dict(coded_size=248),
    "coded_size_huge": dict(coded_size=NONE),
    "coding_1": dict(coding=1),
}
for why, fields_over in BROKEN_SAMPLES.items():
    def broken(over=fields_over):
        return broken_sample(**over)
    broken.__name__ = "sample_with_" + why
    recording({FAULTS: 2}, check="damaged SAMPLE", damaged_records=1)(broken)


@recording({FAULTS: 1}, check="the kernel's record is no sample", damaged_records=1)
def sample_that_is_no_sample():
    other = bytearray(sample(FAULTS, 1001))
    struct.pack_into("<I", other, 48, COMM)
    return ended(state(begun()).chunk(DATA, faults(1000), bytes(other)), 1)


@recording({FAULTS: 2}, check="damaged KERNEL", damaged_records=2)
def kernel_records_of_another_size():
    whole = kernel_sample(FAULTS, 1001)[0]
    shorter = kernel(FAULTS, whole, 1001, kernel_size=len(whole) - 8)
    writer = state(begun()).chunk(DATA, faults(1000), shorter, kernel(FAULTS, whole[:4], 1001),
                                  faults(1002))
    return ended(writer, 2)


@recording({FAULTS: 5, BRK: 1})
def frames_in_the_place_of_dumps():
    writer = state(begun()).chunk(DATA, frames(FAULTS, 1000), faults(1001),
                                  frames(FAULTS, 1002, (), (), 16),
                                  frames(FAULTS, 1002, (1, 2, 3), (0, 2, 7), walked=3),
                                  frames(FAULTS, 1003, (0x400100, 0x400200), (0, 4), 12, asked=0))
    return ended(writer.chunk(DATA, frames(BRK, 1100)), 6)


@recording({FAULTS: 3})
def frames_with_their_places():
    where = (0x7FFE00001000, 0x7FFE00002000)
    return ended(state(begun()).chunk(
        DATA, frames(FAULTS, 1000, end=3, places=(*where, 0, 48)),
        frames(FAULTS, 1001, (), (), 3, places=where),
        frames(FAULTS, 1002, (1, 2, 3), (0, 2, 4), 12, places=(*where, 0, 8, NONE))), 3)


@recording({FAULTS: 1}, check="damaged FRAMES", damaged_records=13)
def frames_that_contradict_themselves():
    wrong = [dict(sources=(0, 9)), dict(sources=(0, 0x89)), dict(end=17), dict(walked=17), dict(count=3),
             dict(count=65537), dict(count=NONE), dict(cut=0), dict(dump_asked=0),
             dict(dump_asked=1032), dict(kernel_size=NONE), dict(asked=0, cut=24),
             dict(asked=0, dump_asked=8)]
    broken = [frames(FAULTS, 1001 + i, **over) for i, over in enumerate(wrong)]
    return ended(state(begun()).chunk(DATA, faults(1000), *broken), 1)


def one_brk():
    return ended(state(begun()).chunk(DATA, sample(BRK, 500)), 1)


# Coded dumps --------------------------------------------------------------------------------------

def words(count, first=1):
    return b"".join(struct.pack("<Q", first + n) for n in range(count))


def changed_words(dump, *places):
    for place in places:
        dump = dump[:8 * place] + struct.pack("<Q", 0xABCD00 + place) + dump[8 * place + 8:]
    return dump


STACK_TOP = 0x7FFE00001000
DUMPS = (  # slot, address, dump
    (0, STACK_TOP - 800, words(100)),
    (0, STACK_TOP - 800, words(100)),  # nothing changed
    (1, STACK_TOP - 800, words(100)),  # another thread's
    (0, STACK_TOP - 800, changed_words(words(100), 0, 7, 8, 50, 99)),
    (0, STACK_TOP - 872, words(9, 900) + changed_words(words(100), 0, 7, 8, 50, 99)),  # deeper
    (0, STACK_TOP - 8, words(1, 77)),  # one word, alone in its line
    (1023, 0x7FFE0000FFC8, words(20, 5)),  # across the end of the image
    (1023, 0x7FFE0001FFC8, changed_words(words(20, 5), 6, 7)),  # the same bytes of the image
    (2, STACK_TOP, bytes(64)),  # zeros, as the image: nothing is stored
    (3, STACK_TOP + 24, words(8125)),  # as much as a kernel record may hold
    (3, STACK_TOP + 24, changed_words(words(8125), 8124)),
    (4, (1 << 64) - 64, words(8)),  # the end of the address space
)


def coded_chunk(time, dumps=DUMPS):
    coder = Coder()
    return b"".join(coded_sample(coder, time + n, dump, slot, address)
                    for n, (slot, address, dump) in enumerate(dumps))


@recording({FAULTS: 2 * len(DUMPS)}, dumps=[dump for _, _, dump in DUMPS] * 2)
def coded_dumps():
    writer = state(begun()).chunk(DATA, coded_chunk(1000)).chunk(DATA, coded_chunk(2000))
    return ended(writer, 2 * len(DUMPS))


@recording({FAULTS: 3}, dumps=[words(100), changed_words(words(100), 4), words(100)])
def coded_dumps_out_of_order():
    """Dumps are decoded in the order of the chunk, and reported in the order of time."""
    coder = Coder()
    records = [coded_sample(coder, time, dump) for time, dump in (
        (1002, words(100)), (1000, words(100)), (1001, changed_words(words(100), 4)))]
    return ended(state(begun()).chunk(DATA, *records), 3)


def set_bytes(offset, value):
    def spoil(coded):
        coded[offset:offset + len(value)] = value
        return bytes(coded)
    return spoil


BROKEN_CODES = {  # of words(100) at a multiple of 64: 13 lines of 8 words, the last one of 4
    "a_slot_too_large": dict(spoil=set_bytes(0, struct.pack("<I", 1024))),
    "an_odd_address": dict(spoil=set_bytes(8, b"\x04")),
    "a_changed_line_too_many": dict(spoil=set_bytes(17, b"\x3f")),
    "an_empty_mask": dict(spoil=set_bytes(18, b"\0")),
    "a_word_behind_the_dump": dict(spoil=set_bytes(30, b"\x1f")),
    "a_word_before_the_dump": dict(address=STACK_TOP + 8, spoil=set_bytes(18, b"\xff")),
    "a_word_too_many": dict(spoil=lambda coded: bytes(coded) + bytes(8)),
    "a_word_too_few": dict(spoil=lambda coded: bytes(coded[:-8])),
    "half_a_word": dict(spoil=lambda coded: bytes(coded[:-4])),
    "no_code_at_all": dict(spoil=lambda coded: b""),
    "a_huge_coded_size": dict(coded_size=NONE),
    "a_cut_elsewhere": dict(cut=64),
    "dump_size_0": dict(dump=b""),
    "dump_size_12": dict(dump=words(1) + b"\x0c\0\0\0"),
    "its_end_past_the_address_space": dict(address=(1 << 64) - 64),
    "a_body_cut_off": dict(size=40),
    "another_coding": dict(coding=2),
}
for why, fields_over in BROKEN_CODES.items():
    def broken_code(over=dict(dict(dump=words(100)), **fields_over)):
        """Two dumps, the broken one, one more that is coded, one that is not; the next chunk is good."""
        coder = Coder()
        later = coded_sample(coder, 1000, words(50)) + coded_sample(coder, 1001, words(50), slot=7)
        later += coded_sample(Coder(), 1002, **over) + coded_sample(coder, 1003, words(50), slot=7)
        writer = state(begun()).chunk(DATA, later + faults(1004)).chunk(DATA, coded_chunk(2000))
        return ended(writer, 3 + len(DUMPS))
    broken_code.__name__ = "coded_dump_with_" + why
    alone = why == "another_coding"  # no coding 1: no image is touched
    recording({FAULTS: 3 + alone + len(DUMPS)}, check="damaged SAMPLE",
              damaged_records=2 - alone)(broken_code)


def packed_chunk(time, dumps=DUMPS):
    coder = Coder()
    return b"".join(packed_sample(coder, time + n, dump, slot, address)
                    for n, (slot, address, dump) in enumerate(dumps))


@recording({FAULTS: 2 * len(DUMPS)}, dumps=[dump for _, _, dump in DUMPS] * 2)
def packed_samples():
    writer = state(begun()).chunk(DATA, packed_chunk(1000)).chunk(DATA, packed_chunk(2000))
    return ended(writer, 2 * len(DUMPS))


LONG_CHAIN = tuple(0x400100 + 16 * n for n in range(150))


@recording({FAULTS: 13, BRK: 2},
           dumps=[words(100), b"", words(100), b"", words(9), words(9), words(9), words(100), words(11),
                  words(12), words(100), words(100), b"", b"", b""])
def packed_samples_of_every_kind():
    """Of two events, with other chains, without a valid byte, without a dump, next to coding 1."""
    coder = Coder()
    records = [packed_sample(coder, 1000, words(100)), packed_sample(coder, 1001),
               packed_sample(coder, 1002, words(100), event_index=BRK),
               packed_sample(coder, 1003, event_index=BRK),
               packed_sample(coder, 1004, words(9), chain=LONG_CHAIN, asked=64000),
               packed_sample(coder, 1005, words(9), chain=LONG_CHAIN[1:], asked=64000),
               packed_sample(coder, 1006, words(9), chain=(0x400100,) * 3),
               packed_sample(coder, 1006, words(100), zeros=1),
               packed_sample(coder, 1007, words(11), chain=()),
               packed_sample(coder, 1008, words(12), slot=1023),
               coded_sample(coder, 1009, words(100)), packed_sample(coder, 1010, words(100)),
               *(packed_sample(coder, 1011 + n, asked=0) for n in range(3))]
    return ended(state(begun()).chunk(DATA, *records), 15)


def mixed_chunk():
    """PACKED and other records; bytes in the padding of one PACKED keep it whole."""
    coder = Coder()
    packed = [packed_sample(coder, 1000 - n, dump, slot, address)
              for n, (slot, address, dump) in enumerate(DUMPS[:9] * 2)]
    anomaly = packed_sample(coder, 1010, words(3), spoil=lambda body: body)
    fixed = 16 + 13 + 5 + anomaly[28] + count_bits(anomaly[34:34 + anomaly[28]])
    anomaly = anomaly[:fixed] + b"\xff" * (-fixed % 8) + anomaly[fixed + -fixed % 8:]
    return b"".join(packed) + faults(1011) + anomaly + faults(900, 901)


MIXED = 18 + 4


@recording({FAULTS: MIXED})
def records_in_planes():
    return ended(state(begun()).chunk(DATA, mixed_chunk(), codec=PLANES), MIXED)


@recording({FAULTS: 2 * len(DUMPS)}, dumps=[dump for _, _, dump in DUMPS] * 2)
def packed_samples_in_planes():
    writer = state(begun()).chunk(DATA, packed_chunk(1000), codec=PLANES)
    return ended(writer.chunk(DATA, packed_chunk(2000), codec=PLANES), 2 * len(DUMPS))


def with_plane(name, change):
    planes = split_planes(mixed_chunk())
    planes[name] = change(bytes(planes[name]))
    return planes_payload(planes)


def of_mixed(**over):
    return planes_payload(split_planes(mixed_chunk()), **over)


BROKEN_PLANES = {
    "no_directory": lambda: bytes(119),
    "more_stored_than_its_size": lambda: of_mixed(sizes=[(1, 1 << 20)]),
    "a_size_that_is_false": lambda: of_mixed(sizes=[(0, MIXED + 1)]),
    "sizes_of_more_than_twice_the_records": lambda: of_mixed(sizes=[(28, 1 << 31)]),
    "bytes_behind_them": lambda: of_mixed(more=b"\0"),
    "another_kind": lambda: with_plane("kinds", lambda plane: b"\3" + plane[1:]),
    "a_kind_too_few": lambda: with_plane("kinds", lambda plane: plane[:-1]),
    "a_kind_too_many": lambda: with_plane("kinds", lambda plane: plane + b"\0"),
    "an_endless_time": lambda: with_plane("times", lambda plane: b"\x80" * 10 + plane),
    "a_byte_too_many_of_heads": lambda: with_plane("heads", lambda plane: plane + b"\0"),
    "a_tag_too_few": lambda: with_plane("tags", lambda plane: plane[:-1]),
    "a_tag_too_many": lambda: with_plane("tags", lambda plane: plane + b"\0"),
    "a_distance_of_0": lambda: with_plane("same_low", lambda plane: bytes(len(plane))),
    "a_distance_beyond_the_first_word": lambda: with_plane("same_high", lambda plane: b"\xff" * len(plane)),
    "a_literal_too_few": lambda: with_plane("literals", lambda plane: plane[:-8]),
    "others_cut_off": lambda: with_plane("others", lambda plane: plane[:-1]),
    "others_of_no_size": lambda: with_plane("others", lambda plane: bytes(len(plane))),
}
for why, broken_payload in BROKEN_PLANES.items():
    def broken_planes(stored=broken_payload):
        """The chunk is damaged; the next one is good."""
        payload = mixed_chunk()
        stored = stored()
        writer = state(begun()).chunk(DATA, payload, codec=PLANES, stored=stored)
        return ended(writer.chunk(DATA, packed_chunk(2000)), len(DUMPS))
    broken_planes.__name__ = "planes_with_" + why
    recording({FAULTS: len(DUMPS)}, check="damaged", damaged_chunks=1,
              skipped_bytes=64 + len(broken_payload()))(broken_planes)


@recording({}, check="refused: critical chunk of unknown codec 2", status=3, refused="codec 2",
           unknown_chunks=1)
def planes_in_a_chunk_of_state():
    return ended(begun().chunk(STATE, infos(), codec=PLANES, stored=infos()), 0)


def set_body(offset, value):
    """Replaces the bytes at that offset of the record."""
    return set_bytes(offset - 16, value)


BROKEN_PACKS = {  # 35 words: 5 bytes of bits; 13 lines: 2 bytes
    "3_words": dict(words=3, spoil=lambda body: bytes(body[:13]) + bytes(3)),
    "too_many_words": dict(words=8192),
    "words_that_are_not_there": dict(words=8191),
    "a_slot_too_large": dict(slot=1024),
    "a_slot_far_too_large": dict(slot=65535),
    "no_room_before_the_cut": dict(tail=38),
    "another_tail": dict(tail=2),
    "no_tail": dict(tail=0),
    "no_tail_and_no_sp": dict(tail=0, sp=0),
    "no_sp": dict(sp=0),
    "sp_before_the_record": dict(sp=39),
    "sp_elsewhere": dict(sp=12),
    "lines_past_the_dump": dict(zeros=1),
    "lines_past_the_record": dict(lines=255),
    "a_word_past_the_last": dict(spoil=set_body(33, b"\xff")),
    "a_changed_line_too_many": dict(spoil=set_body(35, b"\x3f")),
    "an_empty_mask": dict(spoil=set_body(36, b"\0")),
    "a_word_too_many": dict(spoil=lambda body: bytes(body) + bytes(8)),
    "a_word_too_few": dict(spoil=lambda body: bytes(body[:-8])),
    "no_bit_maps": dict(size=29),
    "no_lines_byte": dict(size=24),
    "no_body": dict(size=16),
    "an_odd_address": dict(address=STACK_TOP + 4),
    "dump_size_12": dict(dump=words(1) + b"\x0c\0\0\0"),
    "its_end_past_the_address_space": dict(address=(1 << 64) - 64),
    "its_dump_larger_than_asked": dict(asked=792),
    "another_kernel_type": dict(spoil=set_body(56, struct.pack("<I", COMM))),
    "another_kernel_size": dict(spoil=set_body(62, struct.pack("<H", 8))),
}
for why, fields_over in BROKEN_PACKS.items():
    def broken_pack(over=dict(dict(dump=words(100)), **fields_over)):
        """Two samples, the broken one, one more of each coding, one that is not coded; the next chunk is good."""
        coder = Coder()
        later = packed_sample(coder, 1000, words(50)) + coded_sample(coder, 1001, words(50), slot=7)
        later += packed_sample(Coder(), 1002, **over) + packed_sample(coder, 1003, words(50))
        later += coded_sample(coder, 1003, words(50), slot=7)
        writer = state(begun()).chunk(DATA, later + faults(1004)).chunk(DATA, packed_chunk(2000))
        return ended(writer, 3 + len(DUMPS))
    broken_pack.__name__ = "packed_sample_with_" + why
    recording({FAULTS: 3 + len(DUMPS)}, check="damaged PACKED", damaged_records=3)(broken_pack)


@recording({FAULTS: 257 + 1}, check="more than 16 MiB", damaged_records=2)
def packed_samples_of_too_many_bytes():
    coder, large = Coder(), words(8125)
    first, again = (packed_sample(coder, 1000, large) for _ in range(2))
    return ended(state(begun()).chunk(DATA, first + again * 256 + again * 2, faults(1001)), 258)


@recording({FAULTS: 258 + 1}, check="more than 16 MiB", damaged_records=2)
def coded_dumps_of_too_many_bytes():
    coder, large = Coder(), words(8125)
    first, again = (coded_sample(coder, 1000, large) for _ in range(2))
    records = first + again * 257 + again * 2
    return ended(state(begun()).chunk(DATA, records, faults(1001)), 259)


@recording([{FAULTS: 6}, {BRK: 1}])
def two_recordings():
    return three_and_end()[0] + one_brk()


def second():
    return ended(state(begun()).chunk(DATA, faults(1, 2, 3)), 3)


@recording([{FAULTS: 6}, {BRK: 1}], check="bytes that are in no recording", outside=len(second()))
def three_recordings_the_second_with_a_damaged_head():
    return three_and_end()[0] + flipped(second(), 100) + one_brk()


@recording([{FAULTS: 6}, {BRK: 1}], check="bytes that are in no recording", outside=len(second()))
def three_recordings_the_second_without_its_head():
    return three_and_end()[0] + flipped(second(), 3) + one_brk()


@recording([{FAULTS: 6}, {BRK: 1}], check="bytes that are in no recording",
           outside=len(second()) - HEAD_SIZE, skipped_bytes=HEAD_SIZE, cut_short=True)
def three_recordings_two_with_neither_end_nor_head():
    return three_chunks()[0].data + flipped(second(), 3) + one_brk()


@recording([{FAULTS: 6}, {BRK: 1}], check="bytes that are in no recording",
           outside=len(second()) + 64)
def three_recordings_the_second_without_its_head_and_damaged():
    """No part is known to be a chunk of a recording: only the bytes of the file are counted."""
    return three_and_end()[0] + flipped(second(), 3) + false_header(77) + one_brk()


def nameless(*more):
    writer = Writer().chunk(HEAD, infos(), clock(), events(), *more)
    return ended(writer.chunk(DATA, faults(1, 2)), 2)


@recording([{FAULTS: 6}, {BRK: 1}], check="bytes that are in no recording", outside=len(nameless()))
def three_recordings_the_second_without_a_header():
    return three_and_end()[0] + nameless() + one_brk()


@recording({BRK: 1}, check="bytes that are in no recording", outside=len(nameless(header())))
def a_header_that_does_not_come_first():
    return nameless(header()) + one_brk()


def write_recordings(directory, names=None):
    os.makedirs(directory, exist_ok=True)
    for name in names or RECORDINGS:
        with open(os.path.join(directory, name + ".mtr"), "wb") as f:
            f.write(RECORDINGS[name][0]())


if __name__ == "__main__":
    write_recordings(sys.argv[1], sys.argv[2:])
