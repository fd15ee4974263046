#!/bin/bash
# mtreport -j: with any number of workers, standard output and standard error are the same, byte for byte, for large files and for
# third-party files. golden/sweep checks all synthetic recordings.
# slow: reports large files fifteen times
# timeout: 480
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport

# say FILE JOBS: writes what mtreport reports about FILE, for each of $outputs
say() {
	local output
	for output in $outputs; do
		"$report" -j "$2" $output "$1" 2>&1
		echo "exit status $?"
	done
}

# same NAME FILE...: checks that the reports with each number in $many are the same as with one worker
same() {
	local name=$1 file jobs
	shift
	for file; do
		[ -f "$file" ] || continue
		say "$file" 1 >"$TMPDIR/one"
		for jobs in $many; do
			say "$file" $jobs | cmp -s "$TMPDIR/one" - && continue
			fail "$name: -j $jobs says the same as -j 1: $(basename "$file")"
			return
		done
	done
	pass "$name: with $many workers as with one"
}

outputs='--summary --folded --script --info --unwind-report'
many='2 4'
data=${MT_DATA:-$MT_SHARED/data}
if [ -d "$data" ]; then
	same 'perf.data files of others' "$data"/cores/perf.data "$data"/compressed/*.data "$data"/breadth/perf.data*
else
	skip 'perf.data files of others' "no $data"
fi
large=$TMPDIR/large.perf.data
if [ -z "${MT_NO_PERF:-}" ] && command -v perf >/dev/null &&
	perf record -q -F 2000 -e cpu-clock:u --call-graph dwarf,16384 -o "$large" -- \
		bash -c 'for i in 1 2 3 4 5 6; do ls -R /usr/include >/dev/null; "$0" --version; done' "$report" >/dev/null 2>&1; then
	same 'a perf.data file with many processes' "$large"
else
	skip 'a perf.data file with many processes' 'perf is not installed, or may not record'
fi
if [ -x "$MT_BUILD/mtrec" ] && [ -z "${MT_NO_PERF:-}" ] &&
	"$MT_BUILD/mtrec" -e page-faults -o "$TMPDIR/large.mtr" -- bash -c 'for i in $(seq 60); do ls -R /usr/include/c* >/dev/null; done' \
		>/dev/null 2>&1; then
	same 'a recording with many processes' "$TMPDIR/large.mtr"
else
	skip 'a recording with many processes' 'mtrec may not record here'
fi
expect 2 '-j 0 is a usage error' "$report" -j 0
expect 2 '-j many is a usage error' "$report" -j many
finish
