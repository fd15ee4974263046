#!/bin/bash
# A server with a bounded cache and a session store that leaks, both through malloc, with random sizes and threads. Whatever grows,
# mtreport does not call the cache a leak. By their blocks, the store grows, the cache is bounded, and the parts of the heap are those
# that glibc reports. MT_TESTS=long: 20 such servers.
# timeout: 120
# slow: a verdict on growth takes 12 s
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'reading tracepoint ids'
needs_command "${CXX:-c++}"
needs_calls
cd "$TMPDIR" || exit 1
${CXX:-c++} -O1 -g -std=c++17 -pthread -o lru_server "$MT_TOP/tests/workloads/lru_server.cpp" || exit 1
seeds='7 13 14 15 16 20' # in which the cache was called a leak once; small and large values, one thread and more
[ "${MT_TESTS:-}" != long ] || seeds=$(seq 20)

# shellcheck disable=SC2086
record_without_losses 'the servers are recorded' "$mtrec" -e vm,rss,malloc -- ./lru_server 12 $seeds
cp "$out" mallinfo
expect 0 'they are judged' "$MT_BUILD/mtreport" -q --verdict --csv
cp "$out" verdicts.csv
is 'no bounded path is called a leak' "$(grep ',leak,.*;Cache::cache_store;' verdicts.csv)" ''
is '... nor is any heap' "$(grep ',leak,.*,"\[heap\]",' verdicts.csv)" ''
says '... but what leaks is seen to grow' ',(leak|grows steadily|heap grows),' verdicts.csv
"$MT_BUILD/mtreport" -q >screen
is 'the first screen does not say so, either' "$(grep -A1 'cache_store' screen | grep '^ *leak')" ''

expect 0 'they are judged by their blocks' "$MT_BUILD/mtreport" -q --leaks --csv
cp "$out" leaks.csv
is 'every bounded cache is called bounded, unless a thread stored fewer than 12 values' \
	"$(grep ';Cache::cache_store;xmalloc' leaks.csv | grep -v ',bounded,' | grep -v 'fewer than 12 blocks')" ''
is '... every session store grows, and frees nothing' \
	"$(grep ';Sessions::session_open;xmalloc' leaks.csv | grep -vc ',grows steadily,.*nothing freed')" 0
is '... for every server' "$(grep ';Sessions::session_open;xmalloc' leaks.csv | cut -d, -f1 | sort -u | wc -l)" "$(wc -w <<<"$seeds")"
is 'the first screen says so, too' "$(grep -A1 'Sessions::session_open' screen | grep -c '^ *grows steadily, +.* live')" 3
is '... nothing else' "$(grep -E ',(leak|grows steadily),' leaks.csv | grep -v ';Sessions::session_open;')" ''
# For each server, compares the shares of live and free memory: what --leaks reports against what glibc reports.
awk -F, 'NR == FNR { split($0, w, " "); mapped[w[1]] = w[3] + w[5]; free[w[1]] = w[7]; next }
	$3 == "in use" && $2 in mapped {
		match($0, /of which [0-9.]+ [kMG]?B hold/); live = substr($0, RSTART + 9, RLENGTH - 14)
		split(live, l, " "); unit = l[2] == "MB" ? 1e6 : l[2] == "kB" ? 1e3 : 1
		off = 1 - l[1] * unit / mapped[$2] - free[$2] / mapped[$2]
		print (off < -0.05 || off > 0.05 ? "off" : "right"), $2, mapped[$2], free[$2], $0
	}' mallinfo leaks.csv >heaps
is 'the heaps are known' "$(wc -l <heaps)" "$(wc -w <<<"$seeds")"
is '... with their free shares, within 5 % of what is mapped' "$(grep ^off heaps)" ''
finish
