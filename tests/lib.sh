# For test scripts in shell: TAP on stdout. Source it first:
#
#	. "$(dirname "$0")/../lib.sh"
#	check 'help names every target' grep -q 'make check' help.txt
#	expect 2 'no event is a usage error' "$MT_BUILD/mtrec" -a
#	finish
#
# Every script has TMPDIR to itself; MT_BUILD holds the programs, MT_TOP is the top of the tree.
# shellcheck shell=bash

set -u
tests_run=0
tests_failed=0
MT_TOP=${MT_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
MT_BUILD=${MT_BUILD:-$MT_TOP/build}
MT_SHARED=${MT_SHARED-$MT_TOP/../shared}
if [ -z "${TMPDIR:-}" ]; then
	TMPDIR=$(mktemp -d)
	export TMPDIR
	trap 'rm -rf "$TMPDIR"' EXIT
fi
export XDG_CACHE_HOME=$TMPDIR/cache # where mtrec keeps the ids of tracepoints that it has found

# pass DESCRIPTION; fail DESCRIPTION [FILE with details]
pass() {
	tests_run=$((tests_run + 1))
	echo "ok $tests_run - $1"
}

fail() {
	tests_run=$((tests_run + 1))
	tests_failed=$((tests_failed + 1))
	[ $# -lt 2 ] || sed 's/^/# /' "$2"
	echo "not ok $tests_run - $1"
}

# skip DESCRIPTION WHY
skip() {
	tests_run=$((tests_run + 1))
	echo "ok $tests_run - $1 # SKIP $2"
}

# skip_all WHY: skips the whole file, because none of its tests can run here.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# expect STATUS DESCRIPTION COMMAND...: checks the exit status of the command. Its output stays in the files $out and $err.
out=$TMPDIR/out
err=$TMPDIR/err
expect() {
	local want=$1 description=$2 status=0
	shift 2
	"$@" >"$out" 2>"$err" || status=$?
	if [ "$status" -eq "$want" ]; then
		pass "$description"
	else
		{
			echo "$*: exit status $status, not $want"
			head -n 40 "$out" "$err"
		} >"$TMPDIR/why"
		fail "$description" "$TMPDIR/why"
	fi
}

# check DESCRIPTION COMMAND...: checks that the command succeeds.
check() {
	expect 0 "$@"
}

# says DESCRIPTION REGEX [FILE]: checks that a line of FILE, by default the stderr of the last command, matches.
says() {
	if grep -Eq -- "$2" "${3:-$err}"; then
		pass "$1"
	else
		{
			echo "no line matches: $2"
			head -n 40 "${3:-$err}"
		} >"$TMPDIR/why"
		fail "$1" "$TMPDIR/why"
	fi
}

# needs_perf, needs_shared, needs_command NAME: skip the whole file if what they need is absent.
needs_perf() {
	[ -z "${MT_NO_PERF:-}" ] || skip_all "$MT_NO_PERF"
}

needs_shared() {
	[ -n "$MT_SHARED" ] && [ -d "$MT_SHARED" ] || skip_all "no ../shared next to the tree: set MT_SHARED=DIR"
}

needs_command() {
	command -v "$1" >/dev/null || skip_all "$1 is not installed"
}

# make_here TARGET...: runs make with the current build directory and the settings that it was built with, so that nothing is
# compiled again. Other settings would rebuild everything.
make_here() {
	local werror=
	! grep -q -e ' -Werror' "$MT_BUILD/flags" || werror=WERROR=1
	make -C "$MT_TOP" O="$(realpath --relative-to="$MT_TOP" "$MT_BUILD")" $werror "$@"
}

needs_compiler() {
	needs_command "$(cut -d" " -f1 <<<"${CC:-cc}")"
}

# Live tests of the recorder --------------------------------------------------------------------------------------------

# needs_mtrec: skip the whole file if mtrec is not built, or if perf events do not open.
needs_mtrec() {
	needs_perf
	mtrec=$MT_BUILD/mtrec
	[ -x "$mtrec" ] || skip_all 'mtrec is not built'
}

needs_root() {
	[ "$(id -u)" -eq 0 ] || skip_all "$1 needs root"
}

# needs_uprobes, needs_calls: skip the whole file if functions (needs_uprobes) or system calls (needs_calls) cannot be recorded.
needs_uprobes() {
	probes=/sys/kernel/tracing/uprobe_events
	needs_root 'defining probes'
	[ -e "$probes" ] || skip_all "no uprobes here: no $probes"
}

needs_calls() {
	needs_root 'reading tracepoint ids'
	"$mtrec" --list syscalls:sys_exit_brk >/dev/null 2>&1 || skip_all 'this kernel has no syscall tracepoints'
}

# put_program DIR PROGRAM: copies the program with its loader and libraries, to run as: /ld.so --library-path / /PROGRAM
put_program() {
	cp "$2" "$1/" || exit 1
	ldd "$2" | awk '$2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/.*/ld" { print $1 }' | while read -r library; do
		case $library in */ld-*) cp -L "$library" "$1/ld.so" ;; *) cp -L "$library" "$1/" ;; esac
	done
}

# prepare_nothing PROGRAM...: copies the programs to $TMPDIR/empty, for in_nothing(). Skips the whole file if a mount namespace
# cannot be created.
prepare_nothing() {
	local program
	unshare -m true 2>/dev/null || skip_all 'unshare -m is not allowed here'
	mkdir "$TMPDIR/empty"
	for program in "$(type -P mount)" "$@"; do put_program "$TMPDIR/empty" "$program"; done
}

# in_nothing PROGRAM ARGUMENT...: runs one of the programs given to prepare_nothing() in a mount namespace in which
# /usr, /lib and the like are empty.
in_nothing() {
	unshare -m bash -c '
		empty=$1 program=$2
		shift 2
		run() { "$empty/ld.so" --library-path "$empty" "$empty/$1" "${@:2}"; }
		run mount --make-rprivate /
		for dir in /lib* /bin /sbin /opt /usr; do
			[ -L "$dir" ] || [ ! -d "$dir" ] || run mount -t tmpfs none "$dir" || exit 125
		done
		for dir in /usr /lib; do [ -z "$(shopt -s nullglob; echo "$dir"/*)" ] || exit 125; done
		run "$program" "$@"' in_nothing "$TMPDIR/empty" "$@"
}

# write_node_script: writes grow.js, whose function growBuffers allocates for a second.
write_node_script() {
	cat >grow.js <<-'END'
		const kept = [];
		function growBuffers(n) { for (let i = 0; i < n; i++) { kept.push(new Array(2000).fill(i)); if (kept.length > 500) kept.shift(); } }
		const end = Date.now() + 1000;
		while (Date.now() < end) growBuffers(500);
	END
}

# build_steps: compiles tests/workloads/steps.c to $steps, or skips the whole file.
build_steps() {
	needs_compiler
	steps=$TMPDIR/steps
	# shellcheck disable=SC2086
	${CC:-cc} -D_GNU_SOURCE -O1 -g -pthread -o "$steps" "$MT_TOP/tests/workloads/steps.c" || exit 1
}

# swap_group NAME BYTES: creates the cgroup $group with a memory limit of BYTES, and swap on zram; or skips the whole file.
swap_group() {
	local memory=/sys/fs/cgroup/memory
	[ -w "$memory/cgroup.procs" ] || skip_all 'no cgroup of version 1 that accounts for memory, or not root'
	[ "$(cat /sys/block/zram0/disksize 2>/dev/null)" = 0 ] || skip_all 'no free /dev/zram0: modprobe zram'
	needs_command mkswap
	group=$memory/mtrec-$1-$$
	trap end_swap_group EXIT
	echo 200M >/sys/block/zram0/disksize
	mkswap /dev/zram0 >"$TMPDIR/why" 2>&1 && swapon /dev/zram0 2>>"$TMPDIR/why" ||
		skip_all "no swap on zram: $(tail -n 1 "$TMPDIR/why")"
	mkdir "$group" && echo "$2" >"$group/memory.limit_in_bytes"
}

end_swap_group() {
	swapoff /dev/zram0 2>/dev/null
	echo 1 >/sys/block/zram0/reset
	rmdir "$group" 2>/dev/null
}

# build_faulter: builds ../shared's faulter and its plugin in $TMPDIR; false if the sources are missing.
build_faulter() {
	local flags=(-O2 -g -std=c++17) sources=$MT_SHARED/targets
	[ -f "$sources/faulter.cpp" ] || return 1
	"${CXX:-g++}" "${flags[@]}" "$sources/faulter.cpp" -ldl -pthread -o "$TMPDIR/faulter" &&
		"${CXX:-g++}" "${flags[@]}" -fPIC -shared "$sources/plugin.cpp" -o "$TMPDIR/plugin.so" || exit 1
}

# until_none_lost FILE COMMAND...: runs a command or function that records. Runs it again, up to two times, if the closing line in
# FILE reports lost records. Rings overflow if the host does not run the drains in time, and figures are exact only without losses.
# A recording of fewer than about 500 samples per CPU cannot lose any, because the rings hold that many.
until_none_lost() {
	local said=$1 status i
	shift
	for i in 1 2 3; do
		status=0
		"$@" || status=$?
		grep -E ' [1-9][0-9,]* lost -> ' "$said" >"$TMPDIR/lost" || break
		sed "s/^/# attempt $i: /" "$TMPDIR/lost"
	done
	return "$status"
}

# record_without_losses DESCRIPTION COMMAND...: makes a recording whose figures are compared exactly. Two checks: the command
# succeeds, and no record is lost.
record_without_losses() {
	local description=$1 status=0
	shift
	until_none_lost "$err" record_once "$@" || status=$?
	is "$description" "$status" 0
	says '... without losses, in one of three attempts' ', 0 lost -> '
}

record_once() {
	"$@" >"$out" 2>"$err"
}

# dump FILE: writes the records of FILE as text to $dump, with the second decoder. Slow for large files.
dump=$TMPDIR/dump
dump() {
	"$MT_TOP/scripts/mtdump" --records "$1" >"$dump"
}

# samples_of EVENT: prints how many samples in $dump have that event number.
samples_of() {
	grep -Ec " (SAMPLE|KERNEL|PACKED) [0-9]+ event=$1 .* kernel=SAMPLE" "$dump"
}

# faults_in START END [TID]: prints how many distinct pages between START and END (hex) have a fault in $dump.
faults_in() {
	python3 - "$dump" "$@" <<-'END'
		import re, sys
		start, end, tid = int(sys.argv[2], 16), int(sys.argv[3], 16), sys.argv[4:]
		pages = set()
		for line in open(sys.argv[1], errors="replace"):
		    m = re.search(r" event=1 .* kernel=SAMPLE .* tid=(\d+) .*? addr=0x([0-9a-f]+)", line)
		    if m and (not tid or m.group(1) == tid[0]) and start <= int(m.group(2), 16) < end:
		        pages.add(int(m.group(2), 16) >> 12)
		print(len(pages))
	END
}

# is DESCRIPTION GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		printf 'got %s\nwanted %s\n' "$2" "$3" >"$TMPDIR/why"
		fail "$1" "$TMPDIR/why"
	fi
}

# between DESCRIPTION LOW GOT HIGH
between() {
	if [ "$2" -le "$3" ] && [ "$3" -le "$4" ]; then
		pass "$1"
	else
		printf '%s is not from %s to %s\n' "$3" "$2" "$4" >"$TMPDIR/why"
		fail "$1" "$TMPDIR/why"
	fi
}

# until_true COMMAND...: waits until the command succeeds, 10 s at most.
until_true() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}

# left_probes [PID]: prints the pids of recorders that have ended but still have probes in tracefs. With PID, prints only PID, if it
# has probes, whether it has ended or not.
left_probes() {
	local pid
	for pid in $(sed -nE 's/^[^ ]*:mtrec_([0-9]+)_.*/\1/p' /sys/kernel/tracing/uprobe_events | sort -u); do
		[ "${1:-$pid}" != "$pid" ] || { [ -z "${1:-}" ] && [ -d "/proc/$pid" ]; } || echo "$pid"
	done
}

# probes_are_gone [PID]: waits until tracefs has no probe of a recorder that has ended, or of PID. A background process of mtrec
# removes the probes; each takes a tenth of a second.
probes_are_gone() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ -n "$(left_probes "$@")" ] || return 0
		sleep 0.1
	done
	return 1
}

runs_with() {
	grep -qxE "$2" "/proc/$1/comm" && grep -q "r-xp.*$3" "/proc/$1/maps"
}

# until_runs PID NAME FILE: waits until the process runs that program and has mapped the code of FILE. The name is checked too,
# because the shell that will exec the program also maps libc.
until_runs() {
	until_true runs_with "$@"
}

# until_recording PID FILE: waits until mtrec has written the header of FILE and sleeps in ppoll(). All events are enabled by then.
until_recording() {
	until_true test -s "$2" && until_true grep -qs '^271 ' "/proc/$1/syscall" # ppoll
}

# vmsize PID: the size of the process's address space, in bytes.
vmsize() {
	awk '/^VmSize:/ { printf "%d", $2 * 1024 }' "/proc/$1/status"
}

# until_still PID: waits until vmsize has not changed for a second, 20 s at most. A server's threads end some time
# after their connections close.
until_still() {
	local before='' i
	for ((i = 0; i < 20; i++)); do
		[ "$(vmsize "$1")" != "$before" ] || break
		before=$(vmsize "$1")
		sleep 1
	done
}

# start_mariadb NAME...: starts a database server with an empty data folder. $server is its pid, $server_socket its socket; NAME are
# further programs of MariaDB that the test needs. If the server cannot be started, $server is empty and $no_mariadb says why.
start_mariadb() {
	local name
	server=
	server_socket=$TMPDIR/s
	for name in mariadbd mariadb-install-db mariadb "$@"; do
		no_mariadb="mariadb-server is not installed: no $name"
		type -P "$name" >/dev/null || return
	done
	mariadb-install-db --no-defaults --auth-root-authentication-method=normal --datadir="$TMPDIR/db" \
		--skip-test-db --user=root >"$TMPDIR/installed" 2>&1
	mariadbd --no-defaults --user=root --datadir="$TMPDIR/db" --socket="$server_socket" --skip-networking \
		--innodb-buffer-pool-size=16M --pid-file="$TMPDIR/db.pid" >"$TMPDIR/mariadbd.log" 2>&1 &
	server=$!
	no_mariadb='mariadbd does not start here'
	until_true mariadb --no-defaults -S "$server_socket" -e 'select 1' >/dev/null 2>&1 || stop_mariadb
}

stop_mariadb() {
	[ -n "$server" ] || return 0
	kill "$server"
	wait "$server" 2>/dev/null
	server=
}

# The last line of every script.
finish() {
	echo "1..$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit
}
