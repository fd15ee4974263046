#!/bin/bash
# Records one call of vm alone and, at the same time, all of them: both recordings report the same growth, to the page.
# slow: starts and stops a database server
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1

# Without the calls that an analysis needs, and with other calls recorded without stacks, the analysis says so.
expect 0 'brk alone, without gauges' "$mtrec" -q -e brk --gauges none -o brk.mtr -- true
for analysis in blocks temporary leaks resident hugepages kernel-memory shm reclaim compaction faults files swap oom; do
	expect 4 "--$analysis has nothing of it" "$report" -q "--$analysis" brk.mtr
	says '... and what would record it' 'mtrec -e [a-z]'
	check '... and no table' test ! -s "$out"
done
expect 4 'sizes of processes are missing' "$report" -q --processes brk.mtr
says '... for want of gauges' 'not with --gauges none'
expect 0 'one call of shared memory' "$mtrec" -q -e shm -o shm.mtr -- python3 -c 'import os; os.memfd_create("x")'
expect 4 'none of it in a moment' "$report" -q --shm --time 0,0.000001 shm.mtr
says '... which the selectors did' 'no sample matches the selectors'

# keeps 10 x 8 MB, gives 10 x 32 MB back, and grows the heap by 1 MB
cat >mapper.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *get(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		memset(get(8 << 20), 1, 8 << 20);
	for (int i = 0; i < 10; i++) {
		char *p = get(32 << 20);

		memset(p, 1, 4096);
		munmap(p, 32 << 20);
	}
	return sbrk(1 << 20) == (void *)-1;
}
END
${CC:-cc} -O1 -g -o mapper mapper.c || skip_all 'mapper does not compile'

# grew FILE [PID]: prints the growth of the mappings of that process (all) in bytes, with those that exec made; pid,process,bytes,...
grew() {
	"$report" -q --growth --by process --csv ${2:+-p "$2"} "$1" | awk -F, '$2 !~ /\[exec\]/ { n += $3 } END { print n + 0 }'
}

# mapped FILE PID: prints the bytes that are mapped in that process when it ends; [vsyscall] is known only if /proc was read
mapped() {
	"$report" -q --maps --csv -p "$2" "$1" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && !/vsyscall/ { n += $at["bytes"] } END { print n + 0 }'
}

# size: prints VmSize of $server, or nothing if there is no server.
size() {
	[ -z "$server" ] || vmsize "$server"
}

# none_lost: true if neither recording lost a record.
none_lost() {
	grep -q ', 0 lost -> all.mtr' said && grep -q ', 0 lost -> some.mtr' said
}

# both WHAT COMMAND...: records the whole host to all.mtr and to some.mtr while COMMAND runs; $pid is its process, or $server.
# One recording begins and ends after the other. So the size of $server must be the same at both beginnings, and at both ends;
# and neither recording may lose records: with lost records growth is an estimate. Otherwise both are repeated, at most twice.
both() {
	local what=$1 status before after
	shift
	for _ in 1 2 3; do
		before=$(size)
		status=0
		# shellcheck disable=SC2016 # the inner shell's
		"$mtrec" -m 32M --call-graph dwarf,4096 -e vm,rss -a -o all.mtr -- \
			"$mtrec" -m 32M --call-graph dwarf,4096 -e brk,page-faults -a -o some.mtr -- \
			bash -c 'size >size.begun; (echo $BASHPID >pid; exec "$@"); result=$?; size >size.ended; exit $result' bash "$@" 2>said || status=$?
		after=$(size)
		! none_lost || [ "$before $after" != "$(cat size.begun) $(cat size.ended)" ] || break
		sed 's/^/# again: /' said
	done
	pid=${server:-$(cat pid)}
	is "$what is recorded" "$status" 0
	says '... nothing is lost' ', 0 lost -> all.mtr' said
	says '... of either' ', 0 lost -> some.mtr' said
	[ -z "$server" ] || is '... its size is the same at both beginnings, and at both ends' "$(cat size.begun) $(cat size.ended)" "$before $after"
}

expect 0 'page faults and counts, without calls' "$mtrec" -q -e rss -o rss.mtr -- ./mapper
"$report" -q --resident --csv --by stack rss.mtr >paths
between '... what grew at its end is by the path that touched it' $((80 << 20)) \
	"$(sed -n 's/^"[^"]*;main;[^"]*",\([0-9]*\),.*/\1/p' paths | sort -n | tail -n 1)" $((81 << 20))

server=
export -f size vmsize
both 'the mapper' ./mapper
between '... vm has 81 MB and the libraries' $((81 << 20)) "$(grew all.mtr "$pid")" $((100 << 20))
is '... brk alone has the same' "$(grew some.mtr "$pid")" "$(grew all.mtr "$pid")"
is '... and so are all mappings' "$(mapped some.mtr "$pid")" "$(mapped all.mtr "$pid")"
"$report" -q --growth --by stack --csv -p "$pid" some.mtr >paths
says '... those of brk by their path' 'main;.*brk",1048576,' paths
says '... the others without one' 'call recorded without a stack' paths
"$report" -q --by event --csv some.mtr | cut -d, -f1 | sort >events
is '... and no sample is of what was not asked for' "$(tr '\n' ' ' <events)" 'brk event page-faults '

for event in brk,page-faults mmap munmap mremap mprotect; do
	record_without_losses "$event alone" "$mtrec" -e "$event" -o one.mtr ./mapper
	is '... has the same' "$(grew one.mtr)" "$(grew all.mtr "$pid")"
	check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check one.mtr
done

# same_growth WHAT LEAST: checks that $pid grew by the same number of bytes in both recordings, at least LEAST
same_growth() {
	between "$1 grows" "$2" "$(grew all.mtr "$pid")" $((64 << 30))
	is '... brk and page faults say the same, to the page' "$(grew some.mtr "$pid")" "$(grew all.mtr "$pid")"
}

if command -v node >/dev/null; then
	write_node_script
	both 'node' node grow.js
	same_growth 'node' $((8 << 20))
else
	skip 'node' 'node is not installed'
fi
# all threads' heap is the one that brk moves, and stays as large as it was
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1000000 MALLOC_TRIM_THRESHOLD_=1000000000
start_mariadb
query() {
	mariadb --no-defaults -S "$server_socket" -u root mysql -e 'select count(distinct s), length(group_concat(s order by s desc))
		from (select repeat(md5(seq), 24) as s from seq_1_to_10000) as t' >/dev/null
	local result=$?
	until_still "$server"
	return $result
}
if [ -n "$server" ]; then
	export -f query until_still
	export server server_socket
	until_still "$server" # threads that its start needed
	both 'a database server' bash -c query
	stop_mariadb
	same_growth 'mariadbd' $((1 << 20))
else
	skip 'mariadbd' "$no_mariadb"
fi

expect 0 'page faults alone' "$mtrec" -e page-faults -o faults.mtr ./mapper
expect 4 '... say nothing of growth' "$report" --growth faults.mtr
finish
