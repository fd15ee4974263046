#!/bin/bash
# A server with a bounded cache and a session store that leaks, both through malloc, with sizes and threads by chance: whatever
# grows, the cache is not called a leak. MT_TESTS=long: 20 such servers.
# slow: what is said of growth takes 12 s
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'reading tracepoint ids'
needs_command "${CXX:-c++}"
"$mtrec" --list syscalls:sys_exit_brk >/dev/null 2>&1 || skip_all 'this kernel has no syscall tracepoints'
cd "$TMPDIR" || exit 1
${CXX:-c++} -O1 -g -std=c++17 -pthread -o lru_server "$MT_TOP/tests/workloads/lru_server.cpp" || exit 1
seeds='7 13 14 15 16 20' # in which the cache was called a leak once; small and large values, one thread and more
[ "${MT_TESTS:-}" != long ] || seeds=$(seq 20)

# shellcheck disable=SC2086
expect 0 'the servers are recorded' "$mtrec" -q -- ./lru_server 12 $seeds
expect 0 'they are judged' "$MT_BUILD/mtreport" -q --verdict --csv
cp "$out" verdicts.csv
is 'no bounded path is called a leak' "$(grep ',leak,.*;Cache::cache_store;' verdicts.csv)" ''
is '... nor is any heap' "$(grep ',leak,.*,"\[heap\]",' verdicts.csv)" ''
says '... but what leaks is seen to grow' ',(leak|heap grows),' verdicts.csv
"$MT_BUILD/mtreport" -q >screen
is 'the first screen does not say so, either' "$(grep -A1 'cache_store' screen | grep '^ *leak')" ''
finish
