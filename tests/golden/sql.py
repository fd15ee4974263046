#!/usr/bin/env python3
"""sqlite3 reads the output of --sql: its stacks are those of --folded, and every query of docs/sql.md has an answer."""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("recording", "perfdata", "readers")]
import hostile  # noqa: E402
from output_readers import sql_database  # noqa: E402
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
SCENES = os.path.join(HERE, "scenes")
DOCS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "sql.md")


def report(*words):
    return subprocess.run([MTREPORT, "-q", *words], capture_output=True, check=True).stdout


def check_queries(tap, base):
    with open(DOCS, encoding="utf-8") as file:
        text = file.read()
    queries = re.findall(r"```sql\n(.*?)```", text, re.S)
    answers = {query: base.execute(query).fetchall() for query in queries}
    empty = [query for query, rows in answers.items() if not rows and "losses" not in query]
    tap.check(len(queries) >= 5 and not empty, "every query of docs/sql.md has an answer", empty)
    reported = re.findall(r"^\| `(\w+)` \|", text, re.M)
    made = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    tap.check(sorted(reported) == sorted(made), "docs/sql.md has all tables and views", set(reported) ^ set(made))


def check_stacks(tap, base, recording):
    folded = collections.Counter()
    for line in report("--folded", "--by", "stack", recording).decode().splitlines():
        path, count = line.rsplit(" ", 1)
        folded[path] += int(count)
    events = {alias for (alias,) in base.execute("SELECT DISTINCT event FROM samples")}
    ours = collections.Counter()
    for event, path, figure in base.execute("SELECT event, path, SUM(count) FROM samples JOIN paths USING (stack) GROUP BY event, path"):
        ours[(event + ";" if len(events) > 1 else "") + path.replace(" ", "_")] += figure
    folded = {path.replace(" ", "_"): count for path, count in folded.items()}
    tap.check(ours == folded and len(ours) > 5, "paths have the sums of --folded", sorted(set(ours.items()) ^ set(folded.items()))[:4])


def check_functions(tap):
    """A function that calls itself counts once."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "functions.mtr")
        data, stacks = hostile.functions()
        with open(path, "wb") as file:
            file.write(data)
        base = sql_database(report("--sql", "-", path))
        want = collections.Counter()
        for stack in stacks:
            want.update(set(stack))
        have = {name: inclusive for name, _, inclusive in base.execute("SELECT * FROM by_function")}
        own = {name: own for name, own, _ in base.execute("SELECT * FROM by_function") if own}
        tap.check(have == want and own == collections.Counter(stack[-1] for stack in stacks), "by_function counts a function once",
                  sorted(set(have.items()) ^ set(want.items()))[:1])


def check_program(tap, data):
    what = "sqlite3 reads it without a word"
    if not shutil.which("sqlite3"):
        tap.check(True, what + " # SKIP sqlite3 is not installed")
        return
    done = subprocess.run(["sqlite3", "-bail", ":memory:"], input=data + b"SELECT TOTAL(count) FROM samples;\n", capture_output=True)
    want = sql_database(data).execute("SELECT TOTAL(count) FROM samples").fetchone()[0]
    tap.check(done.returncode == 0 and not done.stderr and float(done.stdout) == want, what, (done.stdout[:200], done.stderr[:200]))


def main():
    tap = Tap()
    recording = os.path.join(SCENES, "container.mtr")
    data = report("--sql", "-", recording)
    base = sql_database(data)
    check_queries(tap, base)
    check_stacks(tap, base, recording)
    check_functions(tap)
    check_program(tap, data)
    images = base.execute("SELECT COUNT(*) FROM images WHERE build_id IS NOT NULL").fetchone()[0]
    tap.check(images, "images have build ids")
    calls = sql_database(report("--mmaps", "--stacks", "--sql", "-", os.path.join(HERE, "recorded", "stacks.mtr")))
    tap.check(calls.execute("SELECT COUNT(*) FROM samples").fetchone()[0] > 0, "a listing has a row for each event")
    tap.finish()


main()
