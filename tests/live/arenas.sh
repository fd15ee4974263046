#!/bin/bash
# Thread arenas that existed when mtrec attached grow by mprotect. --growth, --outstanding and the verdicts show that growth, and a
# heap whose pages were touched before is not called untouched.
# together: it looks only at what it starts itself
# timeout: 120
# slow: a verdict on growth takes 12 s
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
# shellcheck disable=SC2086
${CC:-cc} -O1 -g -pthread -o "$TMPDIR/arenas" "$MT_TOP/tests/workloads/arenas.c" || exit 1
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# near FIGURE WANT: true if FIGURE differs from WANT by at most 5 % and 100 KB
near() {
	awk -v got="$1" -v want="$2" 'BEGIN { d = got - want; if (d < 0) d = -d; exit !(d < want / 20 + 100000) }'
}

./arenas 20 >ready &
pid=$!
for _ in $(seq 100); do grep -q ready ready && break; sleep 0.1; done
record_without_losses 'a server whose arenas exist is recorded' "$mtrec" -e vm,rss -p "$pid" -- \
	sh -c "awk '/^RssAnon/ { print \$2 * 1024 }' /proc/$pid/status >before; sleep 12; awk '/^RssAnon/ { print \$2 * 1024 }' /proc/$pid/status >after"
grew=$(($(cat after) - $(cat before)))
for analysis in growth outstanding; do
	"$report" -q --$analysis --folded >rows
	# the caller of malloc is hidden if another recording on this machine has a return probe there
	got=$(awk '/(^|;)malloc;/ { sum += $NF } END { print sum + 0 }' rows)
	check "--$analysis has what its threads keep: $got of $grew bytes" near "$got" "$grew"
done
"$report" -q --verdict --csv >verdicts
is '... which grows, and is in use' "$(awk -F, '/;remember;/ { print $3 }' verdicts | sort -u)" 'heap grows'
check '... and is not called untouched' sh -c '! grep -q untouched verdicts'
kill "$pid"
wait "$pid" 2>/dev/null

./arenas 20 >ready &
pid=$!
for _ in $(seq 100); do grep -q ready ready && break; sleep 0.1; done
record_without_losses 'its blocks and pages are recorded' "$mtrec" -e vm,rss,malloc -o blocks.mtr -p "$pid" -- sleep 3
kill "$pid"
wait "$pid" 2>/dev/null
"$report" -q --leaks --csv blocks.mtr >leaks
untouched=$(grep -o '[0-9.]* [kM]*B untouched' leaks | awk '{ print $1 * ($2 == "MB" ? 1000000 : $2 == "kB" ? 1000 : 1) }')
check "a heap that was touched before is in use: ${untouched:-0} bytes untouched" awk -v n="${untouched:-0}" 'BEGIN { exit !(n < 400000) }'
finish
