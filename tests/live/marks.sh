#!/bin/bash
# One call of vm alone, beside all of them at the same time: what is said of growth is the same, to the page.
# slow: a database server begins and ends
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1

# What an analysis is about may be missing where other calls were recorded without stacks: it says so.
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

# grew FILE [COMM]: bytes that the mappings of processes of that name (mapper) grew by, with what exec made; pid,process,bytes,...
grew() {
	"$report" -q --growth --by process --csv "$1" | awk -F, -v comm="${2:-mapper}" '$2 ~ "^" comm { n += $3 } END { print n + 0 }'
}

# mapped FILE: bytes that are mapped in the mapper as it ends; [vsyscall] is known only where /proc was read
mapped() {
	"$report" -q --maps --csv --comm mapper "$1" | awk -F, 'NR > 1 && !/vsyscall/ { n += $(NF - 1) } END { print n + 0 }'
}

expect 0 'page faults and counts, without calls' "$mtrec" -q -e rss -o rss.mtr -- ./mapper
"$report" -q --resident --csv --by stack rss.mtr >paths
between '... what grew at its end is by the path that touched it' $((80 << 20)) \
	"$(sed -n 's/^"[^"]*;main;[^"]*",\([0-9]*\),.*/\1/p' paths | sort -n | tail -n 1)" $((81 << 20))

expect 0 'brk and page faults beside vm and rss' \
	"$mtrec" -e vm,rss -a -o all.mtr -- "$mtrec" -e brk,page-faults -a -o some.mtr -- ./mapper
says '... nothing is lost' ', 0 lost -> all.mtr'
says '... of either' ', 0 lost -> some.mtr'
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check some.mtr
between '... vm has 81 MB and the libraries' $((81 << 20)) "$(grew all.mtr)" $((100 << 20))
is '... brk alone has the same' "$(grew some.mtr)" "$(grew all.mtr)"
is '... and so are all mappings' "$(mapped some.mtr)" "$(mapped all.mtr)"
"$report" -q --growth --by stack --csv --comm mapper some.mtr >paths
says '... those of brk by their path' 'main;.*brk",1048576,' paths
says '... the others without one' 'call recorded without a stack' paths
"$report" -q --by event --csv some.mtr | cut -d, -f1 | sort >events
is '... and no sample is of what was not asked for' "$(tr '\n' ' ' <events)" 'brk event page-faults '

for event in mmap munmap mremap mprotect; do
	expect 0 "$event alone" "$mtrec" -e "$event" -o one.mtr ./mapper
	is '... has the same' "$(grew one.mtr)" "$(grew all.mtr)"
done
# both COMMAND...: all.mtr and some.mtr of the whole host while it runs
both() {
	"$mtrec" -q -e vm,rss -a -o all.mtr -- "$mtrec" -q -e brk,page-faults -a -o some.mtr -- "$@"
}

# same_of WHAT COMM LEAST: bytes that processes of that name grew by are the same in both, and LEAST or more
same_of() {
	local all some
	all=$(grew all.mtr "$2")
	some=$(grew some.mtr "$2")
	between "$1 grows" "$3" "$all" $((64 << 30))
	is '... brk and page faults say the same, to the page' "$some" "$all"
}

if command -v node >/dev/null; then
	write_node_script
	check 'node is recorded' both node grow.js
	same_of 'node' node $((8 << 20))
else
	skip 'node' 'node is not installed'
fi
# all threads' heap is the one that brk moves, and stays as large as it was
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1000000 MALLOC_TRIM_THRESHOLD_=1000000000
start_mariadb
if [ -n "$server" ]; then
	sleep 1 # threads that its start needed
	check 'a database server is recorded' both sh -c "sleep 0.5
		mariadb --no-defaults -S '$server_socket' -u root mysql -e 'select count(distinct s), length(group_concat(s order by s desc))
			from (select repeat(md5(seq), 24) as s from seq_1_to_10000) as t' >/dev/null
		result=\$?; sleep 1; exit \$result"
	stop_mariadb
	same_of 'mariadbd' mariadbd $((1 << 20))
else
	skip 'mariadbd' "$no_mariadb"
fi

expect 0 'page faults alone' "$mtrec" -e page-faults -o faults.mtr ./mapper
expect 4 '... say nothing of growth' "$report" --growth faults.mtr
finish
