#!/bin/bash
# mtrec and mtreport show the same hot stacks as perf record and perf script, with the same counts.
# timeout: 120
# slow: records everything twice, once with perf
. "$(dirname "$0")/../lib.sh"
needs_perf
needs_shared
needs_command perf

targets=$TMPDIR/targets
make -s -C "$MT_SHARED/targets" B="$targets" >"$TMPDIR/make" 2>&1 || skip_all "the targets do not build here"
cd "$targets" || exit 1

# Where a weak and a local name start at one address of libc, perf prints the local one (__brk), mtreport what is exported (brk):
# "LOCAL WEAK" for each.
libc=$(ldd ./faulter | sed -n 's|.* => \(/[^ ]*/libc\.so[^ ]*\) .*|\1|p')
id=$(readelf -nW "${libc:-/nothing}" 2>/dev/null | sed -n 's/.*Build ID: //p')
readelf -sW "${libc:-/nothing}" "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" 2>/dev/null | sed 's/@@*[A-Za-z0-9_.]*//' | awk '
	$4 != "FUNC" || $7 == "UND" { next }
	$5 == "GLOBAL" { global[$2] = 1 }
	$5 == "WEAK" { weak[$2] = $8 }
	$5 == "LOCAL" { local[$2] = local[$2] " " $8 }
	END {
		for (at in local) {
			n = at in weak && !(at in global) ? split(local[at], names, " ") : 0
			for (i = 1; i <= n; i++)
				print names[i], weak[at]
		}
	}' >exported

# hot FOLDED LEAST: prints the lines with at least LEAST samples, without the symbol versions that perf prints if .symtab has them.
hot() {
	awk -v least="$2" '$NF >= least' "$1" | sed 's/@@*[A-Za-z0-9_.]*//g' | awk '
		BEGIN { while ((getline line <"exported") > 0) { split(line, pair, " "); name[pair[1]] = pair[2] } }
		{
			count = $NF
			sub(/ [0-9]*$/, "")
			n = split($0, frames, ";")
			for (i = 1; i <= n; i++)
				printf "%s%s", frames[i] in name ? name[frames[i]] : frames[i], i < n ? ";" : " " count "\n"
		}' | LC_ALL=C sort
}

# compare NAME LEAST PERF-EVENT MTREC-EVENT COMMAND...: checks that both have the same lines, and counts that differ by at most 1 % plus 2.
compare() {
	local name=$1 least=$2 perf_event=$3 event=$4
	shift 4
	# counts are equal if neither lost samples; the ring of perf holds all samples (about 4,000 of 16 KiB)
	for _ in 1 2 3; do
		if ! perf record -q -m 128M --call-graph dwarf,16384 -e "$perf_event" -c 1 -o perf.data "$@" >/dev/null 2>"$err"; then
			skip "$name: the same hot stacks as perf" "perf record failed: $(head -n 1 "$err")"
			return
		fi
		perf script --no-inline -i perf.data 2>perf.said | awk -f "$MT_TOP/tests/collapse_perf.awk" | LC_ALL=C sort >perf.folded
		grep -qi 'lost' perf.said || break
	done
	is "$name: perf has lost nothing" "$(grep -i 'lost' perf.said)" ''
	for _ in 1 2 3; do
		"$MT_BUILD/mtrec" -e "$event" -o our.mtr -- "$@" >/dev/null 2>our.said && grep -q ', 0 lost' our.said && break
	done
	says "$name: mtrec has lost nothing" ', 0 lost' our.said
	expect 0 "$name: mtreport folds" "$MT_BUILD/mtreport" --no-inline --folded our.mtr
	cp "$out" our.folded
	hot perf.folded "$least" >perf.hot
	hot our.folded "$least" >our.hot
	check "$name: there are hot stacks" test -s perf.hot
	check "$name: they are the same as perf's" diff <(sed 's/ [0-9]*$//' perf.hot) <(sed 's/ [0-9]*$//' our.hot)
	paste -d ' ' <(sed 's/.* //' perf.hot) <(sed 's/.* //' our.hot) | awk '
		{ d = $1 - $2 }
		d * d > (2 + $1 / 100) ^ 2 { print "perf has " $1 ", mtreport " $2 }' >differences
	if [ -s differences ]; then
		fail "$name: as often as perf" differences
	else
		pass "$name: as often as perf"
	fi
	"$MT_BUILD/mtreport" --no-inline --script our.mtr 2>/dev/null | awk -f "$MT_TOP/tests/collapse_perf.awk" | LC_ALL=C sort >script.folded
	check "$name: --script collapses to what --folded gives" diff script.folded our.folded
}

compare faulter 20 page-faults page-faults ./faulter 2000 200000 1
if [ -r /sys/kernel/tracing/events/syscalls/sys_exit_brk/id ]; then
	compare brker 20 syscalls:sys_exit_brk brk ./brker 2000 4096
else
	skip 'brker: the same hot stacks as perf' 'no readable tracefs: mount it (scripts/mount-tracefs)'
fi
finish
