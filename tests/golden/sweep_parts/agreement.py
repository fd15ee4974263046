"""mtreport and scripts/mtdump, which share no code, find the same in a recording: the same samples of each event in the same
order, and the same damage. Both read the recording, or both refuse it."""
import re

from mtdump_facts import dumped

SCRIPT_HEAD = re.compile(r"^(?:\S.*?)? +(\d+) (?:\[\d+\] )? *(\d+)\.(\d{6}): +\d+ (.*?): ")
DAMAGE = {
    "missing_chunks": r"([\d,]+) chunks? missing",
    "damaged_chunks": r"([\d,]+) (?:damaged chunks? left out|chunks? left out that only a later)",
    "damaged_records": r"([\d,]+) (?:damaged records? left out|records? could not be decoded)",
    "skipped_bytes": r"([\d,]+) bytes? skipped",
    "disordered": r"([\d,]+) records? out of order",
    "unknown_records": r"([\d,]+) records? of a kind this version does not know",
    "cut_short": r"(missing +cut) short",
}


class Found:
    """readable; samples: (time in us, tid, event) in order; damage: its figures by name."""

    def __init__(self, readable, samples=(), damage=None):
        self.readable = readable
        self.samples = list(samples)
        self.damage = damage or {}

    def differences(self, other):
        """Returns what this reader finds and the other does not, as lines."""
        if self.readable != other.readable:
            return [f"mtreport, mtdump: readable {self.readable}, {other.readable}"]
        lines = [f"mtreport, mtdump: {what} {self.damage[what]}, {other.damage[what]}"
                 for what in DAMAGE if self.readable and self.damage[what] != other.damage[what]]
        if len(self.samples) != len(other.samples):
            lines.append(f"mtreport, mtdump: samples {len(self.samples)}, {len(other.samples)}")
        pairs = enumerate(zip(self.samples, other.samples))
        first = next(((n, pair) for n, pair in pairs if pair[0] != pair[1]), None)
        if first:
            lines.append(f"mtreport, mtdump: sample {first[0]}: {first[1][0]}, {first[1][1]}")
        return lines


def is_sample(kind, fields):
    return (kind in ("KERNEL", "SAMPLE", "FRAMES", "PACKED") and fields.get("kernel") == "SAMPLE"
            and "ignored" not in fields)


def by_mtdump(subject):
    found = dumped(subject)
    if not found.readable:
        return Found(False)
    samples, damage, refused, names = [], dict.fromkeys(DAMAGE, 0), [], {}
    for fact in found.facts:
        fields = fact.get("fields", {})
        if fact["what"] == "record" and fact["type"] == "EVENT":
            names.setdefault((fact["recording"], fields["index"]), (fields["name"], fields["role"]))
        elif fact["what"] == "record" and is_sample(fact["type"], fields):
            name, role = names.get((fact["recording"], fields["event"]), ("", None))
            samples += [(fact["time"] // 1000, fields["tid"], name)] if role == 0 else []
        elif fact["what"] == "recording":
            refused.append(fact["refused"])
            for what in damage:
                damage[what] += fact["damage"][what]
            damage["damaged_records"] += fact["damage"]["undecodable_records"]
        elif fact["what"] == "file":
            damage["skipped_bytes"] += fact["bytes_outside"]
            damage["damaged_chunks"] += fact["damaged_heads"]
    return Found(not all(refused), samples, damage)


def by_mtreport(subject):
    info, script = subject.by_one_worker("--info"), subject.by_one_worker("--script")
    if info.status == 3 or script.status == 3:
        return Found(info.status != 3 or script.status != 3)
    return Found(True, script_samples(script.text()), info_damage(info.text()))


def script_samples(text):
    """(time in us, tid, event) of each sample's first line, in order."""
    for line in text.splitlines():
        head = SCRIPT_HEAD.match(line)
        if head:
            yield int(head[2]) * 1000000 + int(head[3]), int(head[1]), head[4]


def info_damage(text):
    return {what: sum(count(number) for number in re.findall(pattern, text))
            for what, pattern in DAMAGE.items()}


def count(number):
    return int(number.replace(",", "")) if number[0].isdigit() else 1


def agree(subject):
    """Also checks that mtreport's exit status is the one that the corpus says."""
    lines = by_mtreport(subject).differences(by_mtdump(subject))
    status = subject.by_one_worker("--script").status
    if subject.want and status != subject.want["status"]:
        lines.append(f"mtreport exits {status}, not {subject.want['status']}")
    yield not lines, f"they agree on {subject.name}", "\n".join(lines)


def follows(subject):
    found = dumped(subject)
    yield found.status == 0, f"{subject.name} follows FORMAT.md", found.said
