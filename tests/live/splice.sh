#!/bin/bash
# Stacks larger than their dump: mtreport joins them with others of their thread, and past pages that were never touched. The joined
# frames are the true ones, also on stacks that are swapped or left by longjmp and exceptions.
# timeout: 300
# slow: compares tens of thousands of stacks with the truth
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command "${CXX:-g++}"
report=$MT_BUILD/mtreport

# part FILE [OPTION...]: prints how many in a thousand of faulter's stacks reach its main().
part() {
	"$report" -q --folded --no-inline --comm faulter "$@" |
		awk '/;worker_loop;|;handle/ || /;step</ { n = $NF; all += n; if (/;main;/) whole += n }
			END { print all ? int(1000 * whole / all) : 0 }'
}

# Every stack has the functions that called each other, from main() on: no other frame comes before step().
tree='^[^;]*(;[^;]*)*;main;worker;worker_loop;handle;(parse_request|index_document|render_page|compact_table_big)[;( ]'

if build_faulter; then
	cd "$TMPDIR" || exit 1
	for mode in 1 2; do
		record_without_losses "faulter $mode is recorded" "$mtrec" -e page-faults --call-graph dwarf,8192 --no-prefault -o small.mtr -- \
			"$TMPDIR/faulter" 20000 0 1 $mode
		between '... a quarter of its stacks are cut' 700 "$(part small.mtr --no-join)" 800
		# in mode 2, no stack shows the call at which the absent page begins
		[ $mode = 2 ] || between '... and joined' 970 "$(part small.mtr)" 1000
		"$report" -q --folded --no-inline --comm faulter small.mtr | grep ';worker_loop' >folded
		wrong=$(grep -Ecv "$tree" folded)
		is '... with the functions that were there' "$wrong" 0
		for jobs in 1 3; do
			"$report" -q -j $jobs --script --comm faulter small.mtr | md5sum
		done | sort -u >sums
		is '... the same by one worker and by three' "$(wc -l <sums)" 1
		"$report" -q --info small.mtr | tr -d , >info
		seeds=$(sed -n 's/^ *page-faults: seed \([0-9]*\) records.*/\1/p' info)
		samples=$(sed -n 's/^ *page-faults: sample \([0-9]*\) records.*/\1/p' info)
		between '... one in 37 has a seed' $((samples / 37 - 2)) "${seeds:-0}" $((samples / 37 + 2))
		faults=$(grep -o '"tot_faults":[0-9]*' "$out" | cut -d: -f2)
		# the program counts from its fork on, the recorder from its execve to its end
		between '... which counts for nothing' $((faults - 100)) "$samples" $((faults + 100))
		check '... --no-seeds records' "$mtrec" -e page-faults --call-graph dwarf,8192 --no-seeds -o none.mtr -- true
		is '... none of them' "$("$report" -q --info none.mtr | grep -c 'page-faults: seed')" 0
		"$report" -q --unwind-report --comm faulter small.mtr >table
		[ $mode = 2 ] && continue
		says '... and counted' 'frames +joined +[0-9]' table
		says '... by what had ended them' 'stacks joined +(dump too small|stack page absent) +[0-9]' table
	done
	check 'faulter 2 is recorded with dumps of 64 KiB, and its holes left' "$mtrec" -e page-faults --call-graph dwarf,65528 --no-prefault \
		-o holes.mtr -- "$TMPDIR/faulter" 20000 0 1 2
	left=$(grep -o '"tot_faults":[0-9]*' "$out" | cut -d: -f2)
	between '... which no dump passes' 700 "$(part holes.mtr --no-join)" 800
	check '... and prefaulted' "$mtrec" -e page-faults --call-graph dwarf,65528 --stats -o healed.mtr -- "$TMPDIR/faulter" 20000 0 1 2
	faulted_in=$(grep -o '"tot_faults":[0-9]*' "$out" | cut -d: -f2)
	says '... --stats says how many pages' '^holes +[1-9][0-9]* absent stack pages'
	between '... which dumps pass then' 970 "$(part healed.mtr --no-join)" 1000
	# the target's own faults vary a little with the loader and the environment
	between "... and the target faults as often as without: $left" $((left - 20)) "$faulted_in" $((left + 20))
else
	skip 'faulter, whose stacks are known' 'no ../shared/targets next to the tree (MT_SHARED=DIR)'
fi

"${CXX:-g++}" -O1 -g -o "$TMPDIR/swapped" "$MT_TOP/tests/workloads/swapped.cpp" || exit 1
check 'swapped stacks are recorded' "$mtrec" -e page-faults --call-graph dwarf,8192 -o "$TMPDIR/swapped.mtr" -- "$TMPDIR/swapped" 400
# ways NAME: writes the stacks that end in the leaf of a way to $TMPDIR/folded, and those with a function of another way to $TMPDIR/mixed
ways() {
	"$report" -q --folded --no-inline --comm "$1" "$TMPDIR/$1.mtr" | grep ';leaf_' >"$TMPDIR/folded"
	awk '{ line = $0; sub(/.*;leaf_/, "", line); way = line; sub(/[^a-z].*/, "", way)
		rest = $0
		while (match(rest, /;(root|middle)_[a-z]+/)) {
			other = substr(rest, RSTART, RLENGTH); sub(/.*_/, "", other)
			if (other != way) wrong = 1
			rest = substr(rest, RSTART + RLENGTH)
		}
		if (wrong) print; wrong = 0 }' "$TMPDIR/folded" >"$TMPDIR/mixed"
}
ways swapped
is '... no frame of another way is joined' "$(wc -l <"$TMPDIR/mixed")" 0
is '... each way is there' "$(grep -o ';leaf_[a-z]*' "$TMPDIR/folded" | sort -u | wc -l)" 8
# one and two are coroutines: their roots have no caller but the start of a context
is '... and a coroutine goes on to nobody' "$(grep -Ec ';main.*;run_(one|two|three|four);' "$TMPDIR/folded")" 0

if "${CXX:-g++}" -std=c++20 -O1 -g -pthread -o "$TMPDIR/restacked" "$MT_TOP/tests/workloads/restacked.cpp" 2>"$TMPDIR/why"; then
	check 'stacks used again by others are recorded' "$mtrec" -e page-faults --call-graph dwarf,8192 -o "$TMPDIR/restacked.mtr" -- \
		"$TMPDIR/restacked" 600
	ways restacked
	is '... no frame of another way is joined' "$(wc -l <"$TMPDIR/mixed")" 0
	is '... each way is there' "$(grep -o ';leaf_[a-z]*' "$TMPDIR/folded" | sort -u | wc -l)" 10
else
	skip 'stacks used again by others' 'the compiler has no coroutines'
fi

# changing HOW...: records the workload with dumps of $dump bytes, and writes $TMPDIR/folded and $TMPDIR/mixed
dump=8192
changing() {
	check "changing $* is recorded" "$mtrec" -e page-faults --call-graph "dwarf,$dump" -o "$TMPDIR/changing.mtr" -- "$TMPDIR/changing" "$@"
	ways changing
}

# The words say how roots are left, how many in a hundred of each root's calls are deep, how long a root stays, and from where. No
# sample shows the change of roots. Stacks with the leaf of one and the root of the other are wrong. If a place occurs only
# once, the stacks around it give a random answer: with these seeds it has been wrong up to 35 times.
check 'roots that change unseen: they are built' "${CXX:-g++}" -O1 -g -pthread -o "$TMPDIR/changing" "$MT_TOP/tests/workloads/changing.cpp"
while read -r how; do
	for seed in 0 2 4; do
		# shellcheck disable=SC2086
		changing $how seed=$seed
		is '... and root and leaf belong together' "$(awk '{ n += $NF } END { print n + 0 }' "$TMPDIR/mixed")" 0
	done
done <<-'END'
	context 4000 50 50 2
	context 4000 0 100 2
	context 4000 50 50 2 depths=64
	context 4000 20 20 20 depths=64 between=2
	jump 4000 50 50 2
	jump 4000 50 50 20
	jump 4000 50 50 2 depths=64
	jump 4000 50 50 20 depths=64
	jump 4000 80 20 5 depths=64
	jump 4000 5 5 2 depths=64 between=1
	throw 4000 50 50 2
	throw 4000 50 50 2 depths=64 threads=3
	throw 400 30 30 5 depths=64 between=1
	return 4000 50 50 2 below
	swap 4000 50 50 2
	swap 4000 50 50 2 depths=64
	swap 4000 20 20 5 depths=64 between=1
	return 4000 50 50 2 pairs depths=64
	context 4000 50 50 2 pairs depths=64
	throw 4000 80 20 5 pairs depths=20
	swap 4000 50 50 2 entries depths=40
END
# Nearly all calls of one root are cut, and hardly any of the other, so that whole stacks show only one root; seeds show both.
while read -r dump how; do
	for seed in 0 2 4; do
		# shellcheck disable=SC2086
		changing $how seed=$seed
		is "... by dumps of $dump, and root and leaf belong together" "$(awk '{ n += $NF } END { print n + 0 }' "$TMPDIR/mixed")" 0
	done
done <<-'END'
	4096 context 6000 10 99 1 depths=1 between=6
	4096 return 3000 99 30 1 depths=1 between=2 threads=4
	4096 throw 1000 99 50 2 threads=4
	8192 context 300 99 3 1 threads=2
	8192 return 300 99 3 1 between=2
	8192 swap 3000 10 99 30 threads=2
	16384 jump 6000 3 99 300 between=6
END
dump=8192
# One in 200 calls is of another root.
for seed in 0 2 4; do
	changing throw 4000 2 2 200 seed=$seed
	is '... and root and leaf belong together' "$(wc -l <"$TMPDIR/mixed")" 0
done
check 'a root that stays is recorded' "$mtrec" -e page-faults --call-graph dwarf,8192 -o "$TMPDIR/changing.mtr" -- "$TMPDIR/changing" still 4000
ways changing
"$report" -q --unwind-report --comm changing "$TMPDIR/changing.mtr" >"$TMPDIR/table"
says '... which are joined' 'stacks joined +dump too small +[0-9]' "$TMPDIR/table"
between '... and its stacks are whole' 970 "$(awk '{ all += $NF } /;root_one;/ { n += $NF } END { print int(1000 * n / all) }' "$TMPDIR/folded")" 1000
finish
