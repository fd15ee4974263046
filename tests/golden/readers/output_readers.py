"""Readers of the outputs of mtreport, one for each output, written from the specification of the format. A reader raises ValueError if
a file breaks its format, and returns the sum of a figure. READERS is the table: for a new output, add its reader here.
"""
import collections
import csv
import gzip
import io
import json
import re
import sqlite3
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
HELD = {"curB": "bytes", "curBk": "count", "inuse_space": "bytes", "inuse_objects": "count", "alloc_space": "bytes",
        "alloc_objects": "count"}


# ---- profile.proto ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message's fields: integers and bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            if at + value > len(data):
                raise ValueError("a field past its message's end")
            value, at = data[at:at + value], at + value
        elif key & 7:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


class Profile:
    def __init__(self, data):
        parts = collections.defaultdict(list)
        for number, value in fields(gzip.decompress(data)):
            parts[number].append(value)
        self.strings = [text.decode() for text in parts[6]]
        self.types = [self.strings[dict(fields(part))[1]] for part in parts[1]]
        self.default = self.strings[parts[14][0]] if parts[14] else None
        self.mappings = {dict(fields(part))[1]: dict(fields(part)) for part in parts[3]}
        functions = {dict(fields(part))[1]: self.strings[dict(fields(part))[2]] for part in parts[5]}
        self.locations = {}
        for part in parts[4]:
            location = dict(fields(part))
            lines = [dict(fields(line)) for number, line in fields(part) if number == 4]
            mapping = self.mappings.get(location.get(2))
            if mapping and not mapping[2] <= location[3] < mapping[3]:
                raise ValueError(f"location {location} is outside of its mapping")
            self.locations[location[1]] = [functions[line[1]] for line in lines]
        self.samples = [self.sample(part) for part in parts[2]]
        self.time = parts[9][0] if parts[9] else 0

    def sample(self, part):
        """Names from the root, values, labels."""
        found = collections.defaultdict(list)
        for number, value in fields(part):
            found[number].append(value)
        names = [name for at in packed(found[1][0]) for name in self.locations[at]]
        labels = [dict(fields(label)) for label in found[3]]
        return names[::-1], packed(found[2][0]), {self.strings[label[1]]: self.strings[label[2]] if 2 in label else label.get(3, 0)
                                                  for label in labels}


# ---- callgrind ----

class Callgrind:
    """Costs by (file, function): own, and inclusive as in callgrind_annotate, which is the cost of the calls of the function."""

    def __init__(self, data):
        self.events, self.totals, self.own, self.called = [], None, {}, {}
        self.all = collections.Counter()  # own and of calls, of the first event
        self.lines = set()
        self.names, self.at, self.callee, self.calls = {}, {}, {}, None
        for number, line in enumerate(data.decode().split("\n")):
            if line and not line.startswith("#"):
                self.take(number + 1, line)
        if self.totals != [sum(costs) for costs in zip(*self.own.values())] and any(self.totals):
            raise ValueError(f"totals {self.totals} are not the sum of costs")

    def take(self, number, line):
        pair = re.match(r"(c?)(fl|fi|fn|ob)=\((\d+)\)(?: (.*))?$", line)
        if pair:
            kind = {"fi": "fl"}.get(pair[2], pair[2])
            if (pair[4] is not None) == ((kind, pair[3]) in self.names):
                raise ValueError(f"line {number}: {line[:80]!r}: a name is given once, and before its use")
            name = self.names.setdefault((kind, pair[3]), pair[4])
            (self.callee if pair[1] else self.at)[kind] = name
        elif re.match(r"calls=\d+ \d+$", line):
            self.calls = int(line[6:].split()[0])
        elif re.match(r"\d+( \d+)+$", line):
            self.cost([int(word) for word in line.split()])
        elif line.startswith("events:"):
            self.events = [HELD.get(event, event) for event in line.split()[1:]]
        elif line.startswith("totals:"):
            self.totals = [int(word) for word in line.split()[1:]]
        elif self.events or not re.match(r"(version|creator|desc|cmd|positions|event): ?", line):
            raise ValueError(f"line {number}: {line[:80]!r}")

    def cost(self, words):
        if len(words) != len(self.events) + 1:
            raise ValueError(f"{words}: not a line and {self.events}")
        into, place = (self.own, self.at) if self.calls is None else (self.called, self.callee)
        key = place["fl"], place["fn"]
        into[key] = [a + b for a, b in zip(into.get(key, [0] * len(self.events)), words[1:])]
        self.all[self.at["fl"], self.at["fn"]] += words[1]
        self.lines.add((self.at["fl"], words[0]))
        self.calls = None

    def inclusive(self):
        return {name: self.called[name][0] if name in self.called else self.all[name] for name in {**self.called, **self.all}}


# ---- The table ----

def callgrind_sum(data, figure):
    found = Callgrind(data)
    return found.totals[found.events.index(figure)]


def profile_sum(data, figure):
    profile = Profile(data)
    at = [HELD.get(name, name) for name in profile.types].index(figure)
    return sum(values[at] for _, values, _ in profile.samples)


def folded_sum(data, _):
    return sum(int(line.rsplit(" ", 1)[1]) for line in data.decode().splitlines())


def csv_sum(data, figure):
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))
    return sum(float(row[figure]) for row in rows)


def json_sum(data, figure):
    return sum(row[figure] or 0 for row in json.loads(data)["rows"])


def flamegraph_sum(data, _):
    return float(ElementTree.fromstring(data).find(f"{SVG}g[@class='lane']").get("data-total"))


def table_sum(data, figure):
    """A table with one figure, whose column ends where its heading ends. Other lines are stacks and paths; the last line may be a sum."""
    lines = data.decode().splitlines()
    start, width = next((i, found.end(1)) for i, found in enumerate(re.search(rf"(?:^|  ) *({figure})  ", line) for line in lines) if found)
    cells = (re.search(r"(?:^|  ) *(-?[\d,.]+)(?: \(.*\))?$", line[:width]) for line in lines[start + 1:]
             if not re.match(r"  (in all|rest|others)", line[width:]))
    return sum(float(cell[1].replace(",", "")) for cell in cells if cell)


# The words that write it; the sum of a figure in what they wrote; whether all figures are in it, or that of --weight; the analyses that it
# shows, where not all.
def sql_database(data):
    """The tables of --sql, in memory."""
    base = sqlite3.connect(":memory:")
    base.executescript(data.decode())
    if base.execute("PRAGMA integrity_check").fetchone() != ("ok",) or base.execute("PRAGMA foreign_key_check").fetchall():
        raise ValueError("the database is not whole")
    return base


def sql_sum(data, figure):
    return sql_database(data).execute(f"SELECT TOTAL({figure}) FROM samples").fetchone()[0]


Reader = collections.namedtuple("Reader", "words sum all", defaults=(True,))

READERS = {
    "csv": Reader(("--csv",), csv_sum),
    "csv with stacks": Reader(("--csv", "--stacks"), csv_sum),
    "json": Reader(("--json", "--stacks"), json_sum),
    "table": Reader(("--table", "--stacks"), table_sum, False),
    "paths": Reader(("--paths", "--top", "1000000"), table_sum, False),
    "folded": Reader(("--folded",), folded_sum, False),
    "flamegraph": Reader(("--flamegraph", "-", "--minwidth", "0"), flamegraph_sum, False),
    "pprof": Reader(("--pprof", "-"), profile_sum),
    "sql": Reader(("--sql", "-"), sql_sum),
    "callgrind": Reader(("--callgrind", "-"), callgrind_sum, False),
}
