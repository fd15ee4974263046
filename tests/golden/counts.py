#!/usr/bin/env python3
"""mtreport --counts: counts events by name, thread and field, like funccount, stackcount and argdist, on synthetic recordings."""
import csv
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "perfdata"), os.path.join(HERE, "recording")]
import blocks  # noqa: E402
import corpus as make  # noqa: E402
import resident as made  # noqa: E402
from perfdata_tool import Tap  # noqa: E402

READ, PLAIN = 60, 61
SIZES = (0, 1, 1, 3, 64, 100, 127, 128, 1 << 62, -5)


def kinds(field):
    return b"".join(make.event(index, 0, name, name, make.attr(2, 900 + index, made.MARK_TYPE), form=form)
                    for index, name, form in ((READ, "app:read", blocks.form(field)), (PLAIN, "app:plain", "")))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.mtr")
        def write(field):
            with open(path, "wb") as f:
                f.write(blocks.recording(b"".join(
                    made.sample(READ, 1000 + i, 100 + i % 2, blocks.words(size)) for i, size in enumerate(SIZES)) +
                    made.sample(PLAIN, 2000, 100, blocks.words(7)), kinds=kinds(field)))

        def run(*options):
            return blocks.subprocess.run([os.path.join(blocks.BUILD, "mtreport"), "--counts", *options, path],
                                         capture_output=True, text=True)

        def rows(keys, *options):
            return [tuple(row[key] for key in keys.split())
                    for row in csv.DictReader(run("--csv", *options).stdout.splitlines())]

        write("size")
        got = rows("event count")
        tap.check(got == [("app:read", "10"), ("app:plain", "1")], "each event, most frequent first", str(got))
        got = rows("tid count", "-e", "app:read", "--by", "thread")
        tap.check(got == [("100", "5"), ("101", "5")], "by thread", str(got))
        got = rows("log2 count size", "--weight", "size", "--by", "log2")
        tap.check([row[:2] for row in got] == [("0", "1"), ("1", "2"), ("2", "1"), ("64", "3"), ("128", "1"),
                                               (str(1 << 62), "1"), ("", "1")],
                  "a histogram of a field, least first, of the events that have it; what is no number last", str(got))
        tap.check(got[3][2] == "291", "... with the sum of each row", str(got))
        got = rows("value count size", "--weight", "size", "--by", "value")
        tap.check(("1", "2", "2") in got and ("127", "1", "127") in got and len(got) == 9, "each value of a field", str(got))
        text = run("--weight", "size", "--by", "log2").stdout
        tap.check(" 64..127\n" in text and " 1\n" in text, "... whose buckets say how far they go", text)
        for options, said in ((("--by", "log2"), "of which field?"), (("--by", "log2", "--weight", "count"), "of which field?"),
                              (("--by", "value", "--weight", "nope"), "no such figure")):
            done = run(*options)
            tap.check(done.returncode == 2 and said in done.stderr, f"{' '.join(options)} is reported", done.stderr)
        write("count")
        got = rows("value .count", "--weight", ".count", "--by", "value")
        tap.check(("127", "127") in got and ("1", "2") in got and len(got) == 9, "a dot marks a field that has the name of a figure", str(got))
    tap.finish()


if __name__ == "__main__":
    main()
