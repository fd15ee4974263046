"""Reads a Firefox profile as docs-developer/CHANGELOG-formats.md and src/types/profile.ts of github.com/firefox-devtools/profiler
describe version 70 of the processed format, and holds it to that: columns and their lengths, each index, order of times.
"""
import json
import numbers

VERSION = 70
COLUMNS = {
    "stackTable": {"frame": "frameTable", "prefixOffset": "number"},
    "frameTable": {"address": "number", "lib": "libs?-1", "inlineDepth": "number", "category": "categories", "subcategory": "number",
                   "func": "funcTable", "nativeSymbol": "nativeSymbols?", "innerWindowID": "null", "line": "number?", "column": "number?",
                   "originalLocation": "sourceLocationTable?"},
    "funcTable": {"name": "stringArray", "isJS": "false", "relevantForJS": "false", "resource": "resourceTable?-1", "source": "sources?",
                  "lineNumber": "number?", "columnNumber": "number?", "originalLocation": "sourceLocationTable?"},
    "resourceTable": {"name": "stringArray", "host": "stringArray?", "type": "number"},
    "sources": {"id": "null", "filename": "stringArray", "startLine": "number", "startColumn": "number", "sourceMapURL": "stringArray?",
                "content": "null"},
    "nativeSymbols": {"libIndex": "libs", "address": "number", "name": "stringArray", "functionSize": "number?"},
    "sourceLocationTable": {"source": "sources", "line": "number", "column": "number"},
}
SAMPLES = {"stack": "stackTable?", "time": "number", "weight": "number"}
MARKERS = {"data": "null", "name": "stringArray", "startTime": "number", "endTime": "number", "phase": "number", "category": "categories"}
THREAD = {"processType": str, "processStartupTime": numbers.Real, "processShutdownTime": type(None), "registerTime": numbers.Real,
          "unregisterTime": type(None), "pausedRanges": list, "name": str, "isMainThread": bool, "processName": str, "pid": str,
          "tid": (int, str), "samples": dict, "markers": dict}
LIB = {"arch": str, "name": str, "path": str, "debugName": str, "debugPath": str, "breakpadId": str, "codeId": (str, type(None))}
COUNTER = {"name": str, "category": str, "description": str, "pid": str, "mainThreadIndex": int, "samples": dict, "display": dict}
DISPLAY = {"graphType": str, "unit": str, "color": str, "markerSchemaLocation": (str, type(None)), "sortWeight": int, "label": str,
           "tooltipRows": list}
META = {"interval": numbers.Real, "startTime": numbers.Real, "processType": int, "product": str, "stackwalk": int, "version": int,
        "preprocessedProfileVersion": int, "categories": list, "markerSchema": list}
COLORS = ("blue", "green", "grey", "ink", "magenta", "orange", "purple", "red", "teal", "yellow")


MISSING = object()


def need(good, what):
    if not good:
        raise ValueError(what)


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


class FirefoxProfile:
    def __init__(self, data):
        self.profile = json.loads(data)
        self.shared, self.threads, self.counters = (self.profile[key] for key in ("shared", "threads", "counters"))
        self.strings = self.shared["stringArray"]
        self.members(self.profile["meta"], META, "meta")
        self.check_meta()
        self.sizes = {name: table["length"] for name, table in self.shared.items() if isinstance(table, dict)}
        self.sizes.update(stringArray=len(self.strings), libs=len(self.profile["libs"]), categories=len(self.profile["meta"]["categories"]))
        need(set(self.shared) == {*COLUMNS, "stringArray"}, f"shared has {sorted(self.shared)}")
        for name, columns in COLUMNS.items():
            self.table(self.shared[name], columns, name)
        need(len(set(self.strings)) == len(self.strings) and all(isinstance(text, str) for text in self.strings), "strings are told once")
        need(all(0 <= offset <= at for at, offset in enumerate(self.shared["stackTable"]["prefixOffset"])), "a caller stands in front")
        for lib in self.profile["libs"]:
            self.members(lib, LIB, "lib")
        for thread in self.threads:
            self.check_thread(thread)
        tids = [thread["tid"] for thread in self.threads]
        need(len(set(tids)) == len(tids), "a tid is of one thread")
        for counter in self.counters:
            self.check_counter(counter)

    @staticmethod
    def members(of, kinds, what):
        for key, kind in kinds.items():
            need(isinstance(of.get(key, MISSING), kind), f"{what}: {key} is {of.get(key)!r:.60}")

    def check_meta(self):
        meta = self.profile["meta"]
        need(meta["preprocessedProfileVersion"] == VERSION and meta["interval"] > 0, "version and interval")
        need(meta["categories"][0]["color"] == "grey", "the default category is grey")
        need(all(category["subcategories"] for category in meta["categories"]), "categories have a subcategory")
        for key in ("initialVisibleThreads", "initialSelectedThreads"):
            need(all(0 <= at < len(self.threads) for at in meta.get(key, ())), key)

    def value(self, value, kind):
        """Whether a value is of a kind: an index in a table, or what stands for none."""
        kind, may, none = kind.partition("?")
        if may and value == (int(none) if none else None):
            return True
        if kind == "number":
            return is_number(value)
        if kind in ("null", "false"):
            return value is {"null": None, "false": False}[kind]
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < self.sizes[kind]

    def table(self, table, columns, what):
        need({key for key in table if key not in ("length", "weightType")} == set(columns), f"{what} has the columns {sorted(table)}")
        for name, kind in columns.items():
            need(len(table[name]) == table["length"], f"{what}.{name} has {len(table[name])} rows of {table['length']}")
            wrong = [value for value in table[name] if not self.value(value, kind)]
            need(not wrong, f"{what}.{name}: {wrong[:3]}")

    def check_times(self, samples, what):
        times = samples["time"]
        need(all(a <= b for a, b in zip(times, times[1:])), f"{what}: times go back")
        need(all(-0.001 <= time <= self.profile["meta"]["profilingEndTime"] + 0.001 for time in times), f"{what}: a time outside of the recording")

    def check_thread(self, thread):
        self.members(thread, THREAD, "thread")
        self.table(thread["samples"], SAMPLES, thread["name"])
        self.table(thread["markers"], MARKERS, "markers")
        need(thread["samples"]["weightType"] in ("samples", "bytes"), thread["samples"]["weightType"])
        self.check_times(thread["samples"], thread["name"])

    def check_counter(self, counter):
        self.members(counter, COUNTER, "counter")
        self.members(counter["display"], DISPLAY, "display")
        need(counter["display"]["color"] in COLORS and counter["display"]["tooltipRows"], "display")
        need(0 <= counter["mainThreadIndex"] < len(self.threads), "mainThreadIndex")
        need(self.threads[counter["mainThreadIndex"]]["pid"] == counter["pid"], "a counter is of the process of its thread")
        self.table(counter["samples"], {"time": "number", "count": "number"}, counter["name"])
        self.check_times(counter["samples"], counter["name"])

    def names(self, stack):
        """Of a stack, from the root."""
        names, offsets = [], self.shared["stackTable"]["prefixOffset"]
        while stack is not None:
            func = self.shared["frameTable"]["func"][self.shared["stackTable"]["frame"][stack]]
            names.append(self.strings[self.shared["funcTable"]["name"][func]])
            stack = stack - offsets[stack] if offsets[stack] else None
        return names[::-1]

    def of(self, analysis, figure):
        """The threads with a figure of an analysis; those that were sampled have their own names."""
        made = [thread for thread in self.threads if thread["tid"] == f"{thread['pid']} {thread['name']}"]
        if analysis == "samples":
            return [thread for thread in self.threads if thread not in made]
        return [thread for thread in made if thread["name"] == f"{analysis}, {figure}"]

    def sum(self, analysis, figure):
        return sum(sum(thread["samples"]["weight"]) for thread in self.of(analysis, figure))
