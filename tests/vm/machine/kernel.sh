# Boots a distribution's kernel in a virtual machine, lets mtrec record the `guest` program there, and checks the recordings
# with the reporter on this machine. tests/vm/*.sh source this file and give the properties of their kernel:
#
#	on_kernel 6.1 counts=batched		or any of these:
#
#	locks=yes|no        mmap_lock:mmap_lock_acquire_returned gives the order of calls
#	counts=each|batched the changes that kmem:rss_stat reports
#	often=yes|no        booted without MT_TESTS=long, too
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"
machine=$MT_TOP/tests/vm/machine
report=$MT_BUILD/mtreport
unordered=brk,mmap,munmap,mremap,mprotect,madvise,shmat,shmdt,task:task_newtask
qemu="qemu-system-x86_64"
guest_seconds=600
guest=$machine/guest	# what runs there
programs=()		# that the test needs in addition to the others
disk=()			# of qemu: the machine's

# ---- Making the machine ----

needs_machine() {
	local program
	[ "$(uname -m)" = x86_64 ] || skip_all 'the kernels are for x86-64'
	needs_command $qemu
	needs_command python3
	needs_shared
	for program in cc "${CXX:-g++}" nm setpriv; do needs_command "${program%% *}"; done
	$qemu -device help 2>/dev/null | grep -q '"ivshmem-plain"' || skip_all "this $qemu has no ivshmem-plain"
	[ -x "$MT_BUILD/static/mtrec" ] || skip_all 'no static mtrec: make static'
}

# The recorded programs, and the files that the machine itself needs.
build_programs() {
	local name flags=(-O2 -g -std=c++17 -fomit-frame-pointer)
	for name in brker faulter xorenc mallocer; do
		"${CXX:-g++}" "${flags[@]}" "$MT_SHARED/targets/$name.cpp" -o "$TMPDIR/$name" -ldl -pthread || return
	done
	"${CXX:-g++}" "${flags[@]}" -fPIC -shared "$MT_SHARED/targets/plugin.cpp" -o "$TMPDIR/plugin.so" || return
	for name in steps resident_steps ledger_truth probed; do
		cc -D_GNU_SOURCE -O1 -g -pthread -fno-optimize-sibling-calls "$MT_TOP/tests/workloads/$name.c" -o "$TMPDIR/$name" || return
	done
	cc -D_GNU_SOURCE -O1 -fPIC -shared "$MT_TOP/tests/workloads/rss_at_exit.c" -o "$TMPDIR/rss_at_exit.so" &&
		cc -D_GNU_SOURCE -O1 "$machine/deliver.c" -o "$TMPDIR/deliver"
}

build_initramfs() {
	local name words=()
	for name in bash mount cat stty tar uname sleep timeout cut setpriv mkdir mkfifo rm grep head cp chmod env "${programs[@]}"; do
		words+=("$(type -P "$name")=/bin/$name") || return
	done
	for name in brker faulter xorenc plugin.so steps resident_steps ledger_truth deliver mallocer probed; do
		words+=("$TMPDIR/$name=/bin/$name")
	done
	# A function's offset in the file is its address, as nm prints it: GNU ld lays programs out so.
	{
		echo "LEDGER_CALLS=4000 UNORDERED=$unordered GROUP_EVENTS='${group_events:-}'"
		echo "BRKER_GROW=0x$(nm "$TMPDIR/brker" | awk '/growILi0ELi0E/ { print $1; exit }')"
		cat "$guest"
	} >"$TMPDIR/guest"
	python3 "$machine/make_initramfs.py" "$TMPDIR/initramfs" "${words[@]}" "$MT_BUILD/static/mtrec=/bin/mtrec" \
		"$TMPDIR/rss_at_exit.so=/lib/rss_at_exit.so" "$machine/init=/init" "$TMPDIR/guest=/guest"
}

# boot VERSION: runs the machine to its end; its files are in $TMPDIR/$version, the current directory.
boot() {
	local kernel size
	kernel=$("$MT_TOP/scripts/get-kernel" "$1" "${MT_KERNELS:-$MT_BUILD/kernels}" 2>"$err") || skip_all "$(tail -n 1 "$err")"
	timeout -k 5 $guest_seconds $qemu -accel tcg,thread=single -smp 2 -m 1536 -display none -vga none -nic none -no-reboot \
		-kernel "$kernel" -initrd "$TMPDIR/initramfs" -append 'console=ttyS0 quiet panic=-1 reboot=t' \
		-serial "file:$TMPDIR/serial" -object "memory-backend-file,id=out,share=on,mem-path=$TMPDIR/delivered,size=256M" \
		-device ivshmem-plain,memdev=out "${disk[@]}" </dev/null >"$out" 2>"$err"
	size=$(od -An -t u8 -N 8 "$TMPDIR/delivered" 2>/dev/null)
	mkdir "$TMPDIR/from" && cd "$TMPDIR/from" || exit 1
	tail -c +9 "$TMPDIR/delivered" 2>/dev/null | head -c "${size:-0}" | tar x 2>/dev/null
	rm -f "$TMPDIR/delivered"
	cat "$err" "$TMPDIR/serial" console >"$TMPDIR/told" 2>/dev/null
	is "Linux $1 boots, and mtrec has run there" "$(cat kernel)" "${kernel#*vmlinuz-}"
	[ -s seconds ] || {
		sed 's/^/# /' "$TMPDIR/told" | tail -n 30
		finish
	}
}

# ---- Checking ----

# ended NAME STATUS: how a piece of the guest's work came out.
ended() {
	cat "$1.out" "$1.err" >"$TMPDIR/piece" 2>/dev/null
	says "$1 ends with $2" "^$2\$" "$1.status"
}

# recorded NAME...: recordings without a loss.
recorded() {
	local name
	for name; do
		ended "$name" 0
		says "... nothing is lost" ', 0 lost ->' "$name.err"
	done
}

# complete NAME LEAST: so many percent of its stacks are.
complete() {
	"$report" "$1.mtr" >"$out" 2>"$err"
	check "$1: $2 % of the stacks are complete" awk -v least="$2" '/^stacks/ { exit !($2 == "all" || $2 >= least) }' "$out"
}

# below NAME ANALYSIS EVENT FUNCTION: prints the sum of the stacks that have the function.
below() {
	"$report" "$2" --folded ${3:+-e "$3"} "$1.mtr" 2>/dev/null | awk -v f="$4" '$0 ~ f { n += $NF } END { print n + 0 }'
}

check_host() {
	ended check 0
	says '... names the kernel' "^ok +kernel +$(cut -d. -f1-2 kernel)[.]" check.out
	says '... every event of memory is there for every process' '^ok +page-faults +every process' check.out
	says '... losses are counted' '^ok +lost counts' check.out
	ended ids 0
}

check_own() {
	recorded growth all stripped ledger unordered
	complete growth 99
	is 'growth: every brk counts' "$(below growth --growth '' 'grow<')" 81920000
	is '... by each of its paths' "$(for i in 0 1 2; do below growth --growth '' "grow<0, $i>"; done | paste -sd' ')" \
		'27308032 27308032 27303936'
	complete all 97
	between 'all: each page that two threads touched' 3000 "$(below all --samples page-faults ';main;.*leaf<|;start_thread;|;worker;')" 3300
	complete stripped 97
	between 'stripped: each page' 2000 "$(below stripped --samples page-faults ';worker_loop;')" 2200
}

check_ledger() {
	if [ "$locks" = yes ]; then
		is 'the kernel reports locks' "$(grep -c 'no mmap_lock:mmap_lock_acquire_returned' ledger.err)" 0
	else
		says 'the kernel reports no locks' 'has no mmap_lock:mmap_lock_acquire_returned' ledger.err
	fi
	expect 0 'the ledger is what /proc/PID/maps was' python3 "$machine/compare_ledger.py" ledger
	sed 's/^/# /' "$out"
	expect 0 '... without locks, too' python3 "$machine/compare_ledger.py" unordered
	sed 's/^/# /' "$out"
}

check_attached() {
	recorded attached
	complete attached 97
	# three threads: where a stack happens to end with a page, the call itself touches the next one
	between 'attached: every page that was touched' 700 "$(below attached --samples page-faults ';touch')" 703
}

# A program that lives on: /proc at both ends decides, whatever the kernel counts in between.
check_held() {
	local kilobytes
	recorded held
	mapfile -t kilobytes <held.rss
	"$report" --resident --by process --csv held.mtr >"$out" 2>"$err"
	is 'held: what came while it was recorded is what /proc says' \
		"$(awk -F, 'NR > 1 { n += $3 } END { print n / 4096 }' "$out")" $(((kilobytes[1] - kilobytes[0]) / 4))
}

check_probes() {
	recorded probes
	is 'a uprobe: every call' "$(below probes --samples mt:grow 'grow<1, 0>')" 100
	is 'a return of it: every one' "$(below probes --samples mt:grown ';main;')" 100
	between 'a kprobe, by its name' 40 "$(below probes --samples mt:fault ';handle_mm_fault')" 400
}

# resident_pages NAME COMMAND TIME: prints the pages of that program at that time by --resident.
resident_pages() {
	"$report" --resident --at "@$3" --by process --csv "$1.mtr" 2>/dev/null |
		awk -F, -v name="$2" 'index($2, name) == 1 && $2 !~ /exited/ { n += $3 } END { print n / 4096 }'
}

# near NAME COMMAND THREADS: how far from smaps_rollup at the program's end, in pages.
near() {
	local time kilobytes pages
	for mode in always never; do
		recorded "$1-$mode"
		read -r time kilobytes <"$1-$mode.rss"
		pages=$(resident_pages "$1-$mode" "$2" "$time")
		echo "# $1, huge pages $mode: $pages pages, smaps_rollup $((kilobytes / 4))"
		case $counts in
		each) is "$1, huge pages $mode: resident is what smaps_rollup says" "$pages" $((kilobytes / 4)) ;;
		batched) between "$1, huge pages $mode: resident within 64 pages a thread" $((kilobytes / 4 - 64 * $3)) "$pages" \
			$((kilobytes / 4 + 64 * $3)) ;;
		esac
	done
}

check_resident() {
	near faulter faulter 1
	near threads faulter 5
	near xorenc xorenc 1
	recorded steps steps-small
	check_steps steps
	check_steps steps-small
}

# The steps at which pages come and go, but where the kernel maps pages around a fault in a file and has not counted them.
check_steps() {
	local name time kilobytes pages
	: >"$TMPDIR/why"
	while read -r name time kilobytes; do
		pages=$(resident_pages "$1" resident_steps "$time")
		case $counts:$name in
		batched:file-read | batched:file-copied | batched:start | *:child) continue ;;
		each:*) [ "$pages" -eq $((kilobytes / 4)) ] ;;
		*) [ $((pages - kilobytes / 4)) -le 64 ] && [ $((kilobytes / 4 - pages)) -le 64 ] ;;
		esac || echo "$name: $pages, smaps_rollup $((kilobytes / 4))" >>"$TMPDIR/why"
	done <"$1.out"
	is "$1: at each step the same" "$(cat "$TMPDIR/why")" ''
}

check_users() {
	local made
	ended nobody-2 0
	ended nobody-brk-2 0
	says 'a user sees no kernel frames, and mtrec says so' 'no kernel side' nobody-brk-2.err
	made=$(sed -n 's/.*, \([0-9,]*\) samples, .*, \([0-9,]*\) lost -> .*/\1+\2/p' nobody-brk-2.err | tr -d ,)
	check '... has each own call, or its loss is counted' test $((made)) -ge 300
	complete nobody-brk-2 97
	says '--check lists the own processes of a user' '^(ok|part) +brk +own processes' nobody-check-2.out
	ended nobody-3 125
	says '... and what would allow it' 'sysctl kernel.perf_event_paranoid=2' nobody-3.err
	ended nobody-check-3 3
}

# on_kernel VERSION WORD...: all of it.
on_kernel() {
	local version=$1 locks=yes counts=each often=no word
	shift
	for word; do local "${word%%=*}=${word#*=}"; done
	[ "$often" = yes ] || [ "${MT_TESTS:-}" = long ] || skip_all 'MT_TESTS=long boots this kernel'
	needs_machine
	{ build_programs && build_initramfs; } >"$out" 2>&1 || skip_all 'the test programs do not build here'
	boot "$version"
	check_host
	check_own
	check_ledger
	check_attached
	check_held
	check_probes
	check_resident
	check_users
	echo "# $(cat kernel): $(cat seconds) s in the machine"
}
