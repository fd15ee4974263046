# The kernel's own memory in a virtual machine: compares reports on `memory_guest` with the figures of the kernel and the programs
# there. tests/vm/memory_*.sh source this file and call memory_on_kernel 6.1, with words of its own.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"
guest=$machine/memory_guest
programs=(dmesg mkswap swapon swapoff ls)
group_events='kmem pages percpu shm swap hugepages mlock migrate oom memory-pmc memory reclaim compaction'

# counted EVENT FILE [FIELD]: its samples, or the sum of that field.
counted() {
	"$report" -q --folded -e "$1" ${3:+--weight "$3"} "$2.mtr" 2>>"$err" | awk '{ n += $NF } END { print n + 0 }'
}

check_functions() {
	local calls
	recorded kernel
	calls=$(counted syscalls:sys_enter_write kernel)
	is 'k:vfs_write: every write' "$(counted 'k:vfs_write' kernel)" "$calls"
	is '... 200 of them' "$calls" 200
	is '... its argument' "$(counted 'k:vfs_write' kernel length)" 1600
	is 'kr:vfs_write: each return' "$(counted 'kr:vfs_write' kernel)" 200
	is '... its value' "$(counted 'kr:vfs_write' kernel ret)" 1600
	recorded returns
	is 'u: and ur: of one function, each call' "$(counted 'u:/bin/probed:work' returns) $(counted 'ur:/bin/probed:work' returns)" '1000 1000'
	is '... argument and value' "$(counted 'u:/bin/probed:work' returns n) $(counted 'ur:/bin/probed:work' returns r)" '499500 1498500'
	is '... with whole stacks' "$("$report" -q --folded returns.mtr | awk '/;main;outer/ { n += $NF } END { print n + 0 }')" 2000
	complete returns 99
}

# The blocks that mallocer keeps, by its source: "BLOCKS BYTES".
mallocer_keeps() {
	python3 - <<-'END'
		rng, ring, leaked = 1, {}, []
		for i in range(20000):
		    rng = (rng * 6364136223846793005 + 1442695040888963407) % 2**64
		    v = rng >> 20
		    path, depth = v & 3, (6, 9, 12, 14)[v & 3]
		    size = 16 + (v + depth) % (64 << path)
		    if i % 100 == 0:
		        leaked.append(size)
		    else:
		        ring[rng >> 33 & 4095] = size
		kept = leaked + list(ring.values())
		print(len(kept), sum(kept))
	END
}

check_blocks() {
	recorded blocks
	"$report" -q --blocks --csv blocks.mtr >"$TMPDIR/blocks.csv" 2>"$err"
	is '-e malloc: blocks and bytes that are kept by the path' "$(python3 - "$TMPDIR/blocks.csv" <<-'END'
		import csv, sys
		rows = [row for row in csv.DictReader(open(sys.argv[1])) if "do_alloc" in str(row)]
		print(sum(int(float(row["blocks"])) for row in rows), sum(int(float(row["bytes"])) for row in rows))
	END
	)" "$(mallocer_keeps)"
}

# fact NAME COLUMN: of the first victim.
fact() {
	python3 - "$1" "$2" "$TMPDIR/oom.csv" <<-'END'
		import csv, sys
		rows = [row for row in csv.DictReader(open(sys.argv[3])) if row["fact"] == sys.argv[1]]
		print(rows[0][sys.argv[2]] if rows else "no " + sys.argv[1])
	END
}

check_kill() {
	local pid line pair
	ended oom 0
	"$report" -q --oom --csv oom.mtr >"$TMPDIR/oom.csv" 2>"$err"
	pid=$(fact 'killed for' pid)
	is 'a kill in a cgroup of version 2: the victim' "$(fact 'killed for' process)" steps
	is '... who asked for memory' "$(fact 'killed for' figure)" "steps $pid"
	is '... the cgroup' "$(fact cgroup figure)" /killed
	is '... its limit' "$(fact "cgroup's limit" value)" $((16 << 20))
	between '... the path that grew' $((13 << 20)) "$(fact grew value)" $((17 << 20))
	says '... by name' 'grew,.*main;[^"]*touch' "$TMPDIR/oom.csv"
	line=$(grep "Killed process $pid (steps)" oom.dmesg)
	is '... the log has that kill' "$(grep -c . <<<"$line")" 1
	if [ "$event" = whole ]; then
		for pair in total_vm=total-vm anon=anon-rss file=file-rss shmem=shmem-rss 'page tables=pgtables'; do
			is "... its figures: ${pair%=*}" "$(($(fact "${pair%=*}" value) / 1024))" \
				"$(sed -n "s/.*[ ,]${pair#*=}:\([0-9]*\)kB.*/\1/p" <<<"$line")"
		done
	fi
	"$report" -q --host oom.mtr >"$TMPDIR/host" 2>"$err"
	says '--host: the cgroup was at its limit, by memory.events' 'cgroup: at its limit .*/killed' "$TMPDIR/host"
	sed 's/^/# /' oom.pressure oom.events
}

# of NAME FILE: that figure in lines "NAME FIGURE".
of() {
	awk -v name="$1" '$1 == name { print $2 }' "$2"
}

check_reclaim() {
	local pages stolen written event=vmscan:mm_vmscan_memcg_reclaim_end
	[ -s reclaim.status ] || {
		skip 'reclaim in a cgroup at its limit' "the kernel has no swap device of its own: $(paste -sd' ' disks)"
		return
	}
	ended reclaim 0
	pages=$("$report" -q --reclaim -e $event --csv --by process reclaim.mtr | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "pages") at = i; next } { n += $at } END { printf "%d\n", n }')
	stolen=$(of pgsteal reclaim.stat)
	written=$(($(of pswpout reclaim.after) - $(of pswpout reclaim.before)))
	echo "# nr_reclaimed $pages, pgsteal $stolen, pswpout $written"
	case $slabs in
	apart) is 'pages that reclaim says it freed: pgsteal of memory.stat' "$pages" "$stolen" ;;
	counted) between 'pages that reclaim says it freed: pgsteal of memory.stat, and 1 % at most' "$stolen" "$pages" $((stolen * 101 / 100)) ;;
	esac
	# The last that were written may not be free yet.
	between '... and pages that were swapped out' $((written * 98 / 100)) "$pages" $((written * 102 / 100))
}

check_groups() {
	local name
	ended list 0
	for name in $group_events; do
		says "the list has $name" "^$name " list.out
		case $(cat "group-$name.status") in
		0) check "$name: is recorded" test -s "group-$name.mtr" ;;
		*) says "$name: what the kernel lacks is said" '^mtrec: .*(has no|no such|does not|not supported|cannot)' "group-$name.err" ;;
		esac
		grep -E 'has no|cannot|not ' "group-$name.err" | sed "s/^mtrec: /# $name: /"
	done
}

# memory_on_kernel VERSION WORD...:
#	event=pid|whole      the fields of oom:mark_victim about the victim
#	slabs=counted|apart  whether reclaim may count pages that pgsteal does not have
memory_on_kernel() {
	local version=$1 event=whole slabs=apart word
	shift
	for word; do local "${word%%=*}=${word#*=}"; done
	[ "${MT_TESTS:-}" = long ] || skip_all 'MT_TESTS=long boots this kernel'
	needs_machine
	truncate -s 256M "$TMPDIR/disk"
	disk=(-drive "file=$TMPDIR/disk,if=none,id=disk,format=raw" -device "nvme,serial=1,drive=disk")
	{ build_programs && build_initramfs; } >"$out" 2>&1 || skip_all 'the test programs do not build here'
	boot "$version"
	check_functions
	check_blocks
	check_kill
	check_reclaim
	check_groups
	echo "# $(cat kernel): $(cat seconds) s in the machine"
}
