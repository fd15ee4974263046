#!/bin/bash
# --host shows the figures that free, vmstat, sar, top and /proc show for the same seconds.
# slow: sar measures five of the six seconds of a load
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
for command in free vmstat top python3; do needs_command $command; done
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
export LC_ALL=C

cat >load.py <<'END'
import ctypes, mmap, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for _ in range(3): # three that fail
    libc.mmap(None, ctypes.c_size_t(1 << 46), 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
end = time.time() + 6.5
with open("written", "wb") as file:
    while time.time() < end: # 8 MB of faults, and as many that go to the disk
        m = mmap.mmap(-1, 8 << 20)
        for at in range(0, len(m), 4096): m[at] = 1
        file.write(m[:1 << 20])
        os.fdatasync(file.fileno())
        m.close()
        time.sleep(0.05)
END
cat >beside.sh <<'END'
look() { free -b >free.$1; top -bn1 >top.$1; cat /proc/pressure/memory >pressure.$1 2>/dev/null; cat /proc/vmstat >vmstat.$1; }
look 1
sar -B -r -S 1 5 >sar.txt 2>/dev/null &
vmstat -S K 5 2 >vmstat.txt &
python3 load.py
wait
look 2
END
check 'the host is recorded' "$mtrec" -q -a -e memory -o host.mtr bash beside.sh
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check host.mtr
"$report" -q --host --csv host.mtr >host.csv
"$report" -q --host --time 1,5 --csv host.mtr >middle.csv

# host QUESTION COLUMN [CSV]: prints a figure of --host as a whole number
host() {
	python3 - "$1" "$2" "${3:-host.csv}" <<'END'
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[3])) if row["question"] == sys.argv[1]]
print(round(float(rows[0][sys.argv[2]])) if len(rows) == 1 and rows[0][sys.argv[2]] else f"no {sys.argv[1]}")
END
}
# near DESCRIPTION FIGURE OTHER LEAST: checks that the figures differ by at most a fifth, or by LEAST. Other programs run, too, and at
# different rates in the two intervals.
near() {
	local most
	most=$(awk -v v="$3" -v s="$4" 'BEGIN { printf "%.0f", (v * 0.2 > s ? v * 0.2 : s) }')
	between "$1" "$(awk -v v="$3" -v d="$most" 'BEGIN { printf "%.0f", v - d }')" "$2" \
		"$(awk -v v="$3" -v d="$most" 'BEGIN { printf "%.0f", v + d }')"
}
free_has() { # free_has FILE ROW COLUMN
	awk -v row="$2" -v column="$3" '$1 == row { print $column }' "$1"
}

for moment in '1 first' '2 last'; do
	file=free.${moment% *} at=${moment#* }
	near "free and --host: free, $at" "$(host 'memory: free' "$at")" "$(free_has "$file" Mem: 4)" $((96 << 20))
	near '... used' "$(host 'memory: used' "$at")" $(($(free_has "$file" Mem: 2) - $(free_has "$file" Mem: 7))) $((96 << 20))
	near '... buffers and cache' "$(host 'memory: buffers and cache' "$at")" "$(free_has "$file" Mem: 6)" $((96 << 20))
	near '... shared' "$(host 'memory: shared, tmpfs' "$at")" "$(free_has "$file" Mem: 5)" $((16 << 20))
	is '... all of it' "$(host 'memory: used' whole)" "$(free_has "$file" Mem: 2)"
	near '... swap' "$(host 'swap: used' "$at")" "$(free_has "$file" Swap: 3)" $((8 << 20))
	near "top and --host: MiB free, $at" "$(($(host 'memory: free' "$at") >> 20))" \
		"$(awk '/^MiB Mem/ { printf "%.0f", $6 }' "top.${moment% *}")" 96
	near '... the load' "$(host 'memory: load average' "$at")" \
		"$(sed -n '1s/.*load average: \([0-9.]*\),.*/\1/p' "top.${moment% *}" | tr -d .)" 30
done

# Counts only grow: the counts that the command reads lie between those recorded before and after it.
for line in 'faults|pgfault' 'major faults|pgmajfault' 'pages freed|pgfree' 'paged in|pgpgin' 'paged out|pgpgout' 'OOM kills|oom_kill'; do
	question="memory: ${line%|*}" name=${line#*|}
	value() { awk -v name="$name" '$1 == name { print $2 }' "vmstat.$1"; }
	between "/proc/vmstat and --host: $name, first" 0 "$(host "$question" first)" "$(value 1)"
	between '... and last' "$(value 2)" "$(host "$question" last)" 99999999999999
done
if [ -s pressure.1 ]; then
	waited() { sed -n 's/^some.*total=//p' "pressure.$1"; }
	between '/proc/pressure and --host: first' 0 "$(host 'memory: some tasks stalled' first)" "$(waited 1)"
	between '... and last' "$(waited 2)" "$(host 'memory: some tasks stalled' last)" 99999999999999
else
	skip '/proc/pressure and --host' 'this kernel has none'
fi

rate() { # rate QUESTION: a second, in the middle
	host "$1" per_second middle.csv
}
# in_five_seconds TITLE QUESTION NAME RATE: five seconds that lie between the command's two readings, and around the middle of the
# recording: 1 % for the tool's clock.
in_five_seconds() {
	local name=$3 within around
	within=$(awk -v last="$(host "$2" last middle.csv)" -v first="$(host "$2" first middle.csv)" 'BEGIN { printf "%.0f", (last - first) * 0.99 }')
	around=$(awk -v last="$(value 2)" -v first="$(value 1)" 'BEGIN { printf "%.0f", (last - first) * 1.01 }')
	between "$1" "$within" "$(awk -v rate="$4" 'BEGIN { printf "%.0f", rate * 5 }')" "$around"
}
if command -v sar >/dev/null; then
	average() { # average COLUMN: of sar -B
		awk -v name="$1" '/fault\/s/ { for (i = 1; i <= NF; i++) at[$i] = NF - i; on = 1; next } !NF { on = 0 }
			on && /^Average:/ { print $(NF - at[name]) }' sar.txt
	}
	for line in 'memory: faults|fault/s|pgfault' 'memory: pages freed|pgfree/s|pgfree' 'memory: paged out|pgpgout/s|pgpgout'; do
		IFS='|' read -r question column name <<<"$line"
		in_five_seconds "sar -B and --host: $column" "$question" "$name" "$(average "$column")"
	done
	near '... scanned by kswapd' "$(rate 'memory: kswapd scans')" "$(average pgscank/s)" 30
	near '... and by who waits' "$(rate 'memory: direct reclaim scans')" "$(average pgscand/s)" 30
	near '... reclaimed' "$(rate 'memory: reclaimed')" "$(average pgsteal/s)" 30
	near 'sar -r and --host: KiB free, on average' "$(($(host 'memory: free' last middle.csv) >> 10))" \
		"$(awk '/^Average:.*kbmemfree/ { getline; print $2 }' sar.txt)" 98304
	is 'sar -S and --host: KiB of swap' "$(($(host 'swap: used' whole) >> 10))" \
		"$(awk '/^Average:.*kbswpfree/ { getline; print $2 + $3 }' sar.txt)"
else
	skip 'sar and --host' 'sysstat is not installed'
fi
in_five_seconds 'vmstat and --host: KiB written' 'memory: paged out' pgpgout "$(awk 'END { print $10 }' vmstat.txt)"
near '... swapped in' "$(($(rate 'swap: swapped in') * 4))" "$(awk 'END { print $7 }' vmstat.txt)" 30

between 'mmap failed three times, and for other programs' 3 "$(host 'memory: mmap, mremap failed' last)" 99999
"$report" -q --host host.mtr >screen
says '... which are errors' '^errors +memory: mmap, mremap failed +[0-9]+ ' screen
says 'failures of malloc are not known, with what would record them' '^not known +memory: malloc failed +- +mtrec -e malloc$' screen
"$report" -q --by event,process --csv host.mtr >who.csv
says '... who failed three times is a sample' '^failed-mmap,[0-9]+,python3,3,3$' who.csv
expect 0 'without a sample it is a recording' "$mtrec" -a -e memory --duration 200ms -o quiet.mtr
expect 0 '... with a checklist' "$report" -q --host quiet.mtr
expect 0 '... and a first screen' "$report" -q quiet.mtr
says '... that leads there' '^NEXT +mtreport --host quiet.mtr  # memory of the host$' "$out"
check 'together with -e vm' "$mtrec" -q -e memory,vm -o both.mtr python3 -c '
import ctypes
libc = ctypes.CDLL(None)
for _ in range(5): libc.mmap(None, ctypes.c_size_t(1 << 46), 3, 34, -1, 0)'
"$report" -q --host --csv both.mtr >host.csv
is '... failed calls count once' "$(host 'memory: mmap, mremap failed' last)" 5
is '... and mappings were recorded whole' "$("$report" --growth both.mtr 2>&1 | grep -c 'in part')" 0
expect 2 'a base is refused' "$report" --host --base host.mtr host.mtr
finish
