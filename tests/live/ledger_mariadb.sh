#!/bin/bash
# A database server under load: its heap grows in stacks that run from the query dispatcher to brk and mmap, with names as
# in its source, and the figures add up to the change of VmSize.
# timeout: 240
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_root 'recording system calls'
needs_mtrec
cd "$TMPDIR" || exit 1
export MALLOC_ARENA_MAX=1 # all threads' heap is the one that brk moves
export MALLOC_MMAP_THRESHOLD_=1000000 # and malloc maps larger blocks by themselves
start_mariadb mariadb-slap
[ -n "$server" ] || skip_all "$no_mariadb"
report=$MT_BUILD/mtreport

# attempt: records the server under load, and measures its size before and after the recording.
attempt() {
	local recorder
	rm -f server.mtr
	until_still "$server"
	earliest=$(vmsize "$server")
	"$mtrec" -m 16M -e vm -p "$server" -o server.mtr 2>said &
	recorder=$!
	until_recording $recorder server.mtr
	before=$(vmsize "$server")
	put_load
	until_still "$server"
	after=$(vmsize "$server")
	kill -INT $recorder
	wait $recorder
	latest=$(vmsize "$server")
}
# The queries have no key, so that the server sorts and gathers rows in more memory than it starts with; the variable is
# larger than blocks from the heap.
put_load() {
	mariadb-slap --no-defaults -S "$server_socket" -u root --concurrency=6 --iterations=2 --create-schema=slap --delimiter=';' \
		--create='create table a (i int primary key auto_increment, s varchar(800));
			insert into a (s) select repeat(md5(seq), 24) from seq_1_to_1500' \
		--query='set @held = repeat(md5(1), 100000); select count(distinct s), group_concat(s order by s desc) from a' >slapped 2>&1
	load_status=$?
}
until_none_lost said attempt
stop_mariadb
is 'mariadb-slap has run' "$load_status" 0
says '... nothing was lost, in one of three attempts' ', 0 lost -> ' said

# The events distinguish brk from mmap, whatever the names of the C library's functions.
for call in brk mmap; do
	expect 0 "what grew by $call" "$report" -q --growth --folded -e $call server.mtr
	cp "$out" $call
	says "... grew below the dispatcher of queries" ';handle_one_connection;(.*;)?do_command;(.*;)?dispatch_command;.* [0-9]+$' $call
	says '... in names that are demangled' ';dispatch_command;.*;[A-Za-z_]+::~?[A-Za-z_]+;' $call
	is '... all of them' "$(grep -c ';_Z' $call)" 0
done
below=$(awk '/;dispatch_command;/ { sum += $NF } END { printf "%d", sum }' brk)
between 'the heap grew there by as much as the strings that a query holds' 1000000 "$below" 1000000000
"$report" -q --growth --by process --csv server.mtr >grown
is 'the server is all that grew' "$(wc -l <grown)" 2
# The server may map memory by itself while mtrec starts and stops. The sizes before and after that are bounds then.
grew=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes") at = i } NR == 2 { print $at }' grown)
changes=$(printf '%d\n' $((after - before)) $((after - earliest)) $((latest - before)) $((latest - earliest)) | sort -n)
between 'it grew by what VmSize says, to the page' "$(head -n 1 <<<"$changes")" "$grew" "$(tail -n 1 <<<"$changes")"
finish
