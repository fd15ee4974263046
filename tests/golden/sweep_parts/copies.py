"""--strip and --seal copy a recording: reports of the copy are equal to those of the original, and the copy of a damaged recording has
all its good parts. -j: reports are the same for any number of workers."""
import os
import re

from mtdump_facts import dumped

WORKERS = [["--summary"], ["--folded"], ["--unwind-report"]]
STRIPPED = [["--script"], ["--unwind-report"], ["--growth"], ["--folded", "--by", "thread,event"]]
OF_FILE = re.compile(rb"^  (stripped |file .* chunks, .* unpacked).*\n", re.M)  # what --info may say otherwise of a copy


def workers_agree(subject):
    """Four workers write the same bytes as one, on standard output and on standard error."""
    differ = [words[0] for words in WORKERS
              if subject.named(subject.report("-j", "4", *words)) != subject.named(subject.by_one_worker(*words))]
    yield not differ, f"{subject.name}: four workers say what one says", differ


def said(subject):
    reports = [subject.named(subject.by_one_worker(*words)) for words in STRIPPED]
    status, out, err = subject.named(subject.by_one_worker("--info"))
    return reports + [(status, OF_FILE.sub(b"", out), err)]


def is_whole(subject):
    """True if no part of the recording is damaged or of unknown type: the copy leaves such parts out."""
    info = subject.by_one_worker("--info")
    return info.status != 3 and not re.search(rb"^  missing|could not be decoded", info.out + info.err, re.M)


def strips(subject):
    done, copy = subject.copy("--strip")
    yield done.status in (0, 3), f"{subject.name}: is stripped as far as it is good", done.said()
    if is_whole(subject):
        yield done.status == 0 and said(copy) == said(subject), f"{subject.name}: ... its copy says the same", [said(subject), done.said()]
    if done.status == 0:
        yield copy.by_one_worker("--info").status <= 4, f"{subject.name}: ... which can be read", copy.by_one_worker("--info").said()
        raw = [fact["type"] for fact in dumped(copy).of("record") if fact["type"] in ("SAMPLE", "PACKED")]
        yield not raw, f"{subject.name}: ... and has no raw stack", raw


def seals(subject):
    """The reports are made without files that this machine may have at the same paths."""
    nowhere = ("-q", "--folded", "--symfs", os.path.join(subject.folder, "nothing"))
    done, copy = subject.copy("--seal", "--symfs", nowhere[-1])
    yield done.status in (0, 3), f"{subject.name}: is sealed as far as it is good", done.said()
    if done.status == 0:
        before, after = subject.named(subject.report(*nowhere)), copy.named(copy.report(*nowhere))
        yield after == before, f"{subject.name}: ... its copy says the same", [before, after]
