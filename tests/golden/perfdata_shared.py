#!/usr/bin/env python3
# timeout: 300
"""perf.data files of 2012 to 2024 from other machines, each with its known content: the record counts, the samples and
periods of each event, the build ids, and for some every field of every record."""
import ast
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfdata"))
from perfdata_tool import BUILD, TOP, Tap, build, dump  # noqa: E402

DATA = os.environ.get("MT_DATA") or os.path.join(os.environ.get("MT_SHARED", os.path.join(TOP, "../shared")), "data")
KERNEL_TYPES = {"MMAP": 1, "LOST": 2, "COMM": 3, "EXIT": 4, "THROTTLE": 5, "UNTHROTTLE": 6, "FORK": 7, "READ": 8,
                "SAMPLE": 9, "MMAP2": 10, "KSYMBOL": 17, "BPF_EVENT": 18}
SAMPLE_BITS = ["IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK",
               "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX",
               "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT"]
FREQ = 1 << 10


def data_files():
    for where, _, names in sorted(os.walk(DATA)):
        for name in sorted(names):
            if name.endswith(".records.txt"):
                yield os.path.join(where, name[:-len(".records.txt")])


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def kernels(lines):
    return [line for line in lines if line[""] == "KERNEL"]


def samples(lines):
    return [line for line in kernels(lines) if line["type"] == 9]


# records.txt --------------------------------------------------------------------------------------

def check_records(tap, name, path, lines):
    """Returns the attrs in order, and how many records of each type the file has; if some are compressed, it may have more."""
    text = text_of(path + ".records.txt")
    want = ast.literal_eval(text.strip().splitlines()[-1].strip())
    got = collections.Counter(line["type"] for line in kernels(lines))
    packed = "COMPRESSED" in want
    for kind, number in KERNEL_TYPES.items():
        if kind in want or number in got:
            good = got[number] >= want.get(kind, 0) if packed else got[number] == want.get(kind, 0)
            tap.check(good, f"{name}: {want.get(kind, 0)} {kind}", f"got {got[number]}")
    events = [line for line in lines if line[""] == "EVENT"]
    attrs = re.findall(r"ATTR type=(\d+) cfg=(0x[0-9a-f]+) per=(\d+) attrsz=(\d+) precise=(\d) st=(\S*) .*"
                       r"regs_user=(0x[0-9a-f]+) stack_user=(\d+)", text)
    tap.same([attr_text(e) for e in events],
             [(int(t), int(c, 0), int(p), int(z), int(x), s, int(r, 0), int(k)) for t, c, p, z, x, s, r, k in attrs],
             f"{name}: its attrs")


def attr_text(event):
    bits = "|".join(bit for i, bit in enumerate(SAMPLE_BITS) if event["sample_type"] >> i & 1)
    return (event["type"], event["config"], event["period"], event["attr_size"], event["flags"] >> 15 & 3, bits,
            event["regs_user"], event["stack_user"])


# perf61-summary.txt -------------------------------------------------------------------------------

def check_summary(tap, name, path, lines):
    """Samples and periods of each event as perf 6.1 sums them, the first and last time, and the threads."""
    if not os.path.exists(path + ".perf61-summary.txt"):
        return
    text = text_of(path + ".perf61-summary.txt")
    if text.startswith("perf 6.1 cannot"):
        return
    events = {e["index"]: e for e in lines if e[""] == "EVENT"}
    counts, periods, threads = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples(lines):
        event = events[sample["event"]]
        counts[event["name"]] += 1
        periods[event["name"]] += sample["period"] or event["period"]
        threads[f"{sample['pid']}/{sample['tid']}"] += 1
    found = re.search(r"samples per event (.*)\nsum of period per event (.*)\nfirst/last sample time \('(\S+)', '(\S+)'\)\n"
                      r"threads (\d+) top (.*)", text)
    tap.same(dict(counts), ast.literal_eval(found[1]), f"{name}: samples of each event")
    tap.same(dict(periods), ast.literal_eval(found[2]), f"{name}: sum of periods of each event")
    times = [sample["time"] for sample in samples(lines)]
    tap.same(tuple(f"{t // 10**9}.{t // 1000 % 10**6:06}" for t in (times[0], times[-1])), (found[3], found[4]),
             f"{name}: first and last sample")
    tap.same(len(threads), int(found[5]), f"{name}: threads")
    tap.same({k: threads[k] for k, _ in ast.literal_eval(found[6])}, dict(ast.literal_eval(found[6])),
             f"{name}: samples of the busiest threads")


# One sample, at 274060.378726953, is of pid 1430 and tid 0: 38 us before it thread 6703 of that process, powerd, has sent its
# EXIT record, and on its last way the kernel no longer has a number for it. perf looks for the thread by the tid alone and
# finds the idle task, swapper; but what runs there is powerd's, as the pid says.
COMMS_ELSEWHERE = {"breadth/perf.data.throttle-3.8": {"swapper": 4448, "powerd": 103}}


def check_comms(tap, name, path):
    """Returns samples by the name of their thread, which the records before them give."""
    found = re.search(r"^comms (.*)", text_of(path + ".perf61-summary.txt"), re.M) if os.path.exists(path + ".perf61-summary.txt") else None
    if not found:
        return
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "-q", "--script", path], capture_output=True, text=True)
    heads = re.findall(r"^(\S.*?) +-?\d+ (?:\[\d+\] )? *\d+\.\d{6}: ", run.stdout, re.M)
    want = dict(ast.literal_eval(found[1])) | COMMS_ELSEWHERE.get(name, {})
    got = collections.Counter(heads)
    tap.same({comm: got[comm] for comm in want}, want, f"{name}: samples by thread name")


# buildids -----------------------------------------------------------------------------------------

def check_build_ids(tap, name, path, lines):
    if os.path.exists(path + ".buildids"):
        # perf lists images without an id, too, when samples hit them
        want = sorted({tuple(line.split(None, 1)) for line in text_of(path + ".buildids").splitlines() if line[0] != " "})
        tap.same(sorted({(i["build_id"], i["path"]) for i in lines if i[""] == "IMAGE"}), want, f"{name}: build ids")


# pb_text: text protobuf ---------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:([a-z_0-9]+) \{|(\})|([a-z_0-9]+): (?:"((?:\\.|[^"\\])*)"|(\S+)))')


def pb_parse(text):
    """The messages as dicts of lists."""
    top = collections.defaultdict(list)
    stack = [top]
    for opened, closed, key, string, word in TOKEN.findall(text):
        if opened:
            message = collections.defaultdict(list)
            stack[-1][opened].append(message)
            stack.append(message)
        elif closed:
            stack.pop()
        else:
            stack[-1][key].append(pb_value(string, word))
    return top


def pb_value(string, word):
    if word in ("true", "false"):
        return int(word == "true")
    return int(word) if word else re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), string)


def unsigned(number):
    return number & 0xFFFFFFFF


def pb_branch(branch):
    flags = (branch["mispredicted"][0] | branch["predicted"][0] << 1 | branch["in_transaction"][0] << 2 |
             branch["abort"][0] << 3 | branch["cycles"][0] << 4 | branch["type"][0] << 20 | branch["spec"][0] << 24)
    return f"{branch['from_ip'][0]}:{branch['to_ip'][0]}:{flags}"


# A field of theirs -> of ours, in the body and in sample_info.
BODY = {"ip": "ip", "pid": "pid", "tid": "tid", "ppid": "ppid", "ptid": "ptid", "sample_time_ns": "sample_time", "id": "id",
        "stream_id": "stream_id", "cpu": "cpu", "period": "period", "addr": "addr", "start": "start", "len": "len",
        "pgoff": "pgoff", "filename": "name", "comm": "name", "maj": "maj", "min": "min", "ino": "ino",
        "ino_generation": "ino_generation", "fork_time_ns": "event_time", "time_ns": "event_time"}
MMAP2_BODY = {"prot": "prot", "flags": "flags"}
INFO = {"pid": "id_pid", "tid": "id_tid", "sample_time_ns": "sample_time", "id": "id", "cpu": "cpu"}


def pb_record(event):
    """Returns the fields of their event as (our field, value) pairs; None for a record of perf itself."""
    header = event["header"][0]
    if header["type"][0] >= 64:
        return None
    fields = {"type": header["type"][0], "misc": header["misc"][0], "size": header["size"][0]}
    body = next((v[0] for k, v in event.items() if k.endswith("_event")), {})
    names = BODY | MMAP2_BODY if header["type"][0] == 10 else BODY
    if header["type"][0] in (5, 6):
        names = {"time_ns": "event_time"}
    for theirs, ours in names.items():
        if theirs in body:
            fields[ours] = body[theirs][0]
    for theirs, ours in INFO.items():
        if "sample_info" in body and theirs in body["sample_info"][0]:
            fields[ours] = body["sample_info"][0][theirs][0]
    if "callchain" in body:
        fields["chain"] = ",".join(map(str, body["callchain"]))
    if "branch_stack" in body:
        fields["branches"] = ",".join(map(pb_branch, body["branch_stack"]))
    return {k: unsigned(v) if k.endswith(("pid", "tid")) else v for k, v in fields.items()}


def comparable(key, value):
    if key.endswith(("pid", "tid")):
        return unsigned(value)
    if key == "chain":
        return str([int(address) & ~(1 << 63) for address in str(value).split(",") if address])
    return str(value) if key in ("name", "branches") else value


def our_record(line, keys):
    return tuple((key, comparable(key, line[key])) for key in keys)


def is_joined(record, lines):
    """A mapping of theirs that is two of ours, one after the other."""
    maps = [l for l in lines if l["type"] == record["type"] == 1 and unsigned(l["pid"]) == record["pid"]]
    return any(a["start"] == record["start"] and a["name"] == record["name"] and a["pgoff"] == record["pgoff"] and
               b["start"] == a["start"] + a["len"] and a["len"] + b["len"] == record["len"]
               for a in maps if a["start"] == record.get("start") for b in maps)


def check_fields(tap, name, path, lines):
    """
    Every record of the text is one of ours, field by field. The writer of the text has joined some mappings with the next
    one, and set bit 63 in those addresses of callchains that lie in no mapping: the test does not compare that bit.
    """
    if not os.path.exists(path + ".pb_text"):
        return
    pb = pb_parse(text_of(path + ".pb_text"))
    wanted = [record for record in map(pb_record, pb["events"]) if record]
    ours = collections.defaultdict(list)
    for line in kernels(lines):
        ours[line["type"], line["size"]].append(line)
    missing, compared, cache = [], 0, {}
    for record in wanted:
        keys = tuple(sorted(record))
        place = (record["type"], record["size"], keys)
        if place not in cache:
            cache[place] = collections.Counter(our_record(line, keys) for line in ours[place[:2]])
        want = our_record(record, keys)
        compared += len(keys)
        if not cache[place][want] and not is_joined(record, kernels(lines)):
            missing.append(record)
        cache[place][want] -= 1
    tap.check(not missing, f"{name}: {len(wanted)} records, {compared} fields as the text has them",
              f"{len(missing)} differ, the first: {missing[:1]}\n{[l for l in lines if missing and l.get('type') == missing[0]['type']][:1]}")
    tap.same(sum(r["type"] == 9 for r in wanted), len(samples(lines)), f"{name}: the text has all samples")
    check_metadata(tap, name, pb, lines)


def check_metadata(tap, name, pb, lines):
    info = {line["key"]: line["value"] for line in lines if line[""] == "INFO"}
    for theirs, ours in (("hostname", "host"), ("kernel_version", "kernel"), ("architecture", "arch"),
                         ("cpu_description", "cpu")):
        for message in pb["string_metadata"]:
            if theirs in message:
                tap.same(str(info.get(ours, "")), message[theirs][0]["value"][0], f"{name}: {ours}")
    for message in pb["string_metadata"]:
        whole = message["perf_command_line_whole"]
        if whole:
            tap.same(info.get("command", "").replace("'", ""), whole[0]["value"][0].replace("'", ""), f"{name}: command")
    names = [e["name"][0] for e in pb["event_types"]]
    if names:
        tap.same([e["name"] for e in lines if e[""] == "EVENT"], names, f"{name}: names of events")
    if pb["build_ids"]:
        tap.same(sorted(i["path"] for i in lines if i[""] == "IMAGE"), sorted(b["filename"][0] for b in pb["build_ids"]),
                 f"{name}: images")


# Branches -----------------------------------------------------------------------------------------

def check_branches(tap, name, lines, entries, mispredicted, empty):
    stacks = [str(s["branches"]).split(",") if s["branches"] != "" else [] for s in samples(lines)]
    flat = [entry.split(":") for stack in stacks for entry in stack]
    tap.same(len(flat), entries, f"{name}: {entries} branch entries")
    tap.same(sum(int(flags) & 1 for _, _, flags in flat), mispredicted, f"{name}: {mispredicted} mispredicted")
    tap.same(sum(not stack for stack in stacks), empty, f"{name}: {empty} samples with an empty stack stay samples")


def check_file(tap, program, path):
    name = os.path.relpath(path, DATA)
    status, lines, said = dump(program, path)
    tap.check(status == 0 and lines, f"{name}: is read", said)
    if status:
        return
    end = lines[-1]
    tap.same([end[k] for k in ("cut_short", "skipped", "damaged", "unknown", "disordered")], [0] * 5,
             f"{name}: nothing damaged, skipped or out of order")
    tap.check(not any("UNDECODABLE" in line or "NOEVENT" in line for line in kernels(lines)), f"{name}: all decoded")
    times = [line["time"] for line in kernels(lines) if line["time"]]
    tap.check(times == sorted(times), f"{name}: in order of time")
    check_records(tap, name, path, lines)
    check_summary(tap, name, path, lines)
    check_comms(tap, name, path)
    check_build_ids(tap, name, path, lines)
    check_fields(tap, name, path, lines)
    if name.startswith("lbr-any"):
        check_branches(tap, name, lines, 119424, 5, 8)
    if name.startswith("lbr-loop"):
        check_branches(tap, name, lines, 386, 0, 6)


# Stacks -------------------------------------------------------------------------------------------

CORES = {23097: "raise sigusr2 stdarg backtracegen start start_thread __clone",
         23096: "pthread_join main __libc_start_main _start"}


def check_cores(tap, option):
    """The stacks of two threads unwound from their dumps, through 1,587 CFA expressions, in a static binary."""
    run = subprocess.run([os.path.join(BUILD, "mtreport"), "--script", option, DATA + "/cores", DATA + "/cores/perf.data"],
                         capture_output=True, text=True)
    stacks = {}
    for block in run.stdout.strip().split("\n\n"):
        head, *frames = block.splitlines()
        stacks[int(head.split()[1])] = " ".join(re.sub(r"\+0x.*", "", frame.split()[1]) for frame in frames)
    tap.same(stacks, CORES, f"cores/perf.data {option}: the stacks that eu-stack gives")
    tap.same(run.stderr, "", f"cores/perf.data {option}: both stacks reach their root")


def main():
    paths = list(data_files())
    if not paths:
        print(f"1..0 # SKIP no perf.data files in {DATA}: set MT_DATA to a folder that has them")
        return
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for path in paths:
            check_file(tap, program, path)
    if os.path.exists(DATA + "/cores/perf.data"):
        check_cores(tap, "--symfs")
        check_cores(tap, "--debug-dir")
    tap.finish()


if __name__ == "__main__":
    main()
