#!/usr/bin/env python3
"""Every analysis with every output, on one recording of each kind, gives a report or the reason why there is none; none ends by
a signal.

Analyses and outputs are those of mtreport --help all, so that a new one takes part by itself. What does not go together is
refused (2) for one recording, and not tried with the others.
"""
# timeout: 200
# slow: thousands of reports
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "perfdata"))
from perfdata_tool import BUILD, Tap  # noqa: E402

MTREPORT = os.path.join(BUILD, "mtreport")
WORDS = {"BEGIN,END": "page-faults,brk", "FUNCTION|FILE": "main"}
KINDS = ["brk", "host", "kernel", "malloc", "memory", "sampled"]  # made by kinds/remake


def listed(text, section):
    """[(option, its word or None)] of a section of the help text."""
    part = text.partition(f"\n{section}, ")[2].partition("\n\n")[0]
    return re.findall(r"^ {6}(--[a-z-]+)(?: ([^ \n]+))?", part, re.M)


def recordings(folder):
    """name to path of each kind."""
    found = {"default": os.path.join(HERE, "scenes", "nothing.mtr"),  # -e vm,rss, with frames
             "stacks": os.path.join(HERE, "recorded", "stacks.mtr")}  # brk, mmap and faults, with raw stacks
    found.update((name, os.path.join(HERE, "kinds", name + ".mtr")) for name in KINDS)
    found["perf"] = os.path.join(folder, "perf.data")
    found["folded"] = os.path.join(folder, "folded.txt")
    subprocess.run([MTREPORT, "-q", "--perfdata", found["perf"], found["stacks"]], check=True)
    with open(found["folded"], "w", encoding="utf-8") as out:
        subprocess.run([MTREPORT, "-q", "--folded", found["stacks"]], stdout=out, check=True)
    return found


def words_of(options, folder, number):
    for option, word in options:
        yield option
        if word in WORDS:
            yield WORDS[word]
        elif word and word != "(default)":
            yield os.path.join(folder, f"{number}.{word.lower()}")


def run(folder, number, path, options):
    words = list(words_of(options, folder, number))
    done = subprocess.run([MTREPORT, "-j", "1", *words, path], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    for word in words:
        if word.startswith(folder) and os.path.exists(word):
            os.unlink(word)
    return done.returncode, done.stderr.decode(errors="replace")


def problem(status, said):
    """Why an exit status with this on standard error is not right, or None."""
    if status not in (0, 2, 3, 4) or re.search("sanitizer|runtime error", said, re.I):
        return f"exit {status}: {said[-200:]}"
    if status and not re.search(r"^mtreport: .*[a-z]{3}", said, re.M):
        return f"exit {status} without a message"
    return None


def run_all(pool, folder, path, pairs):
    """(exit status of each pair, what is wrong with those that are)"""
    jobs = [pool.submit(run, folder, number, path, [option for option in pair if option]) for number, pair in enumerate(pairs)]
    ends = {pair: job.result() for pair, job in zip(pairs, jobs)}
    wrong = [f"{' '.join(option[0] for option in pair if option)}: {why}" for pair, (status, said) in ends.items()
             for why in [problem(status, said)] if why]
    return {pair: status for pair, (status, _) in ends.items()}, wrong


def main():
    tap = Tap()
    text = subprocess.run([MTREPORT, "--help", "all"], capture_output=True, text=True, check=True).stdout
    analyses, outputs = (listed(text, section) for section in ("Analyses", "Outputs"))
    tap.check(len(analyses) > 20 and len(outputs) > 12, "--help all lists analyses and outputs", f"{analyses}\n{outputs}")
    pairs = [(analysis, output) for analysis in [None, *analyses] for output in outputs]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, path in recordings(folder).items():
            statuses, wrong = run_all(pool, folder, path, pairs)
            tap.check(not wrong, f"{name}: each analysis with each output ends in order", "\n".join(wrong))
            reports = sum(status == 0 for status in statuses.values())
            tap.check(reports > 10, f"... {reports} of {len(pairs)} with a report")
            pairs = [pair for pair in pairs if statuses[pair] != 2]
    tap.finish()


main()
