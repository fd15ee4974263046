"""The sum of every output plus the remainder that it reports is the sum of its analysis, in bytes and in counts. Hostile names do not
break the format of any output. readers/output_readers.py has the table of outputs."""
import json
import os
import re
import sys

from subject import HERE

sys.path.insert(0, os.path.join(HERE, "../readers"))
from output_readers import READERS  # noqa: E402

ANALYSES = {"samples": ("count",), "growth": ("bytes", "count"), "outstanding": ("bytes", "count"),
            "resident": ("bytes", "count"), "faults": ("count",), "files": ("bytes", "count"), "blocks": ("bytes",)}


def sum_of(subject, analysis, figure):
    """The sum of the analysis, or None if it has nothing to report."""
    done = subject.report("--" + analysis, *READERS["json"].words)
    rows = json.loads(done.out)["rows"] if done.status == 0 else []
    return sum(row[figure] or 0 for row in rows) if rows and figure in rows[0] else None


def remainder(said):
    """The sum of the negative rows, which are left out."""
    found = re.search(r"([\d,.]+) \S* ?of shrinking are left out", said)
    return -float(found[1].replace(",", "")) if found else 0


def fault(subject, analysis, figure, name):
    """Returns the fault of one output, or None."""
    want = sum_of(subject, analysis, figure)
    weight = () if READERS[name].all else ("--weight", figure)
    done = subject.report("--" + analysis, *weight, *READERS[name].words)
    where = f"--{analysis} --weight {figure}"
    if done.status:
        return f"{where}: exit {done.status}: {done.said()}"
    try:
        have = READERS[name].sum(done.out, figure)
        have += remainder(done.said()) if not READERS[name].all else 0
    except (ValueError, KeyError, IndexError, StopIteration) as error:
        return f"{where}: {error!r}: {done.out[:300]!r}"
    return None if abs(have - want) < 0.5 else f"{where}: {have}, and the analysis has {want}"


def outputs_sum_up(subject):
    """Checks nothing in a recording in which no analysis has a sum."""
    cases = [(analysis, figure) for analysis in ANALYSES for figure in ANALYSES[analysis] if sum_of(subject, analysis, figure)]
    for name in READERS if cases else ():
        wrong = [each for case in cases for each in [fault(subject, *case, name)] if each]
        yield not wrong, f"{subject.name}: --{name} comes to the sum of its analysis", "\n".join(wrong)
