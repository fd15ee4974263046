#!/bin/bash
# Records a whole host: a program in C++, a database under load, a script in node. In a mount namespace without any of the host's
# files the report is the same, except for inlined functions; with --embed lines it has these, too. The same holds for a recording
# that is sealed later.
# timeout: 600
# slow: reads a recording in three places
. "$(dirname "$0")/../lib.sh"
needs_root 'recording the whole host'
needs_mtrec
needs_command "${CXX:-g++}"
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport
prepare_nothing "$report"

# Other programs of the host may end, or their files disappear, before mtrec reads them: only these programs are compared.
comms='/^(grower|faulter|node|libuv.*|V8.*|maria.*|.*connection.*)$/'

# same DESCRIPTION FILE OPTION...: checks that the report is the same here and without any files, and is not empty.
same() {
	local what=$1 file=$2
	shift 2
	"$report" -q --folded --comm "$comms" "$@" "$file" >here 2>why
	in_nothing mtreport -q --folded --comm "$comms" "$@" "$PWD/$file" >elsewhere 2>>why
	{ diff here elsewhere && cat why; } >differs
	if [ -s here ] && cmp -s here elsewhere; then pass "$what"; else fail "$what" differs; fi
}

# The programs run one after another; the recording ends with the last one.
"${CXX:-g++}" -O2 -g -std=c++17 -o grower "$MT_TOP/tests/workloads/grower.cpp" || exit 1
parts=
if build_faulter; then
	parts='./faulter 2000 0 1 1; ./faulter 2000 0 1 2;'
fi
if type -P node >/dev/null; then
	write_node_script
	parts="$parts node --perf-basic-prof --interpreted-frames-native-stack grow.js;"
fi
start_mariadb
if [ -n "$server" ]; then
	{
		echo 'create database t; use t; create table a (i int primary key auto_increment, s varchar(200), key (s));'
		echo "insert into a (s) select concat('row ', seq) from seq_1_to_3000;"
		for _ in 1 2 3; do
			echo "select count(*) from a x join a y on x.s < y.s where x.i < 40;"
			echo "insert into a (s) select concat(s, ' more') from a limit 2000;"
			echo "select s, count(*) from a group by s order by 2 desc, 1 limit 3;"
		done
	} >load.sql
	parts="$parts mariadb --no-defaults -S $server_socket <load.sql;"
else
	skip 'a database under load' "$no_mariadb"
fi

record() {
	[ -z "$server" ] || mariadb --no-defaults -S "$server_socket" -e 'drop database if exists t' 2>/dev/null
	"$mtrec" -q -a -e page-faults,brk,mmap "$@" sh -c "./grower 200; $parts true" >ran 2>said
}

check 'the host is recorded' record -o host.mtr
check '... and with debug information' record --embed lines --embed-limit 512M -o lines.mtr
check '... and without any carried file' record --embed none -o none.mtr
check '... which is sealed' "$report" -q --seal sealed.mtr none.mtr
"$report" -q --folded --comm "$comms" --no-inline none.mtr >unsealed
"$report" -q --folded --comm "$comms" --no-inline sealed.mtr >here
check '... and gives the same report' diff unsealed here
[ ! -e faulter ] || check '... which has joined stacks' test "$("$report" -q --unwind-report sealed.mtr | grep -c 'frames *joined')" -gt 0
"$report" -q --folded --comm "$comms" lines.mtr >inlined
"$report" -q --folded --comm "$comms" --no-inline host.mtr >plain

# The files are missing as on another machine, or after an upgrade.
for name in grower faulter plugin.so; do
	[ ! -e $name ] || mv $name $name.gone
done
database=$server
stop_mariadb
same 'the report is the same without any file, except for inlined functions' host.mtr --no-inline
check '... as before the files went' diff plain elsewhere
check "... with the names of functions" grep -q "SessionCache::remember" elsewhere
[ -z "$database" ] || check "... the database's, too" grep -q ';handle_one_connection;.*;do_command' elsewhere
type -P node >/dev/null && check "... and the script's" grep -q 'growBuffers ' elsewhere
same 'with carried debug information, it has inlined functions, too' lines.mtr
check '... as before the files went' diff inlined elsewhere
same 'the report of the sealed recording is the same, too' sealed.mtr --no-inline
check '... as before the files went' diff unsealed elsewhere
finish
