#!/bin/bash
# A recording needs no other files: the reports are the same on a machine without the files of the recorded machine, also for
# binaries that were deleted or replaced, and for those of other mount and pid namespaces.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_root 'looking into other namespaces'
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# elsewhere FILE OPTION...: writes the folded stacks of the recording, without access to other files, to $TMPDIR/elsewhere.
mkdir empty
put_program empty "$report"
elsewhere() {
	local file=$1
	shift
	cp "$file" empty/read.mtr
	chroot empty /ld.so --library-path / /mtreport -q --folded "$@" read.mtr >elsewhere 2>why
}

# here FILE OPTION...: writes the same with all files present to $TMPDIR/here.
here() {
	local file=$1
	shift
	"$report" -q --folded "$@" "$file" >here 2>why
}

# same DESCRIPTION FILE OPTION...: checks that here and elsewhere write the same text, and that it is not empty.
same() {
	local what=$1
	shift
	here "$@"
	elsewhere "$@"
	diff here elsewhere >differs
	if [ -s here ] && [ ! -s differs ]; then pass "$what"; else fail "$what" differs; fi
}

"$mtrec" -q -e page-faults,brk -o plain.mtr "$steps" faults 50 >/dev/null
same 'without inlining, the same where no file is' plain.mtr --no-inline
check 'with names out of .symtab' grep -q ';main[; ]' elsewhere
"$report" --info plain.mtr >info
check '--info reports that it is carried' grep -q 'unwind tables: carried, names: carried' info
here plain.mtr --no-inline
cp here carried
here plain.mtr --no-inline --prefer-local
check 'and as from the files' diff carried here

"$mtrec" -q -e page-faults,brk --embed all -o whole.mtr "$steps" faults 50 >/dev/null
same 'whole images are the same where no file is' whole.mtr --no-inline
check 'what is carried without being asked for is of what samples show' \
	[ "$(stat -c %s plain.mtr)" -lt $(($(stat -c %s whole.mtr) / 2)) ]
"$mtrec" -q -e page-faults --embed lines -o lines.mtr "$steps" faults 50 >/dev/null
same 'with --embed lines, with inlining too' lines.mtr
same 'and with source lines' lines.mtr --srcline
check 'which are there' grep -q 'steps\.c:' elsewhere

"$mtrec" -q -e page-faults --embed none -o none.mtr "$steps" faults 50 >/dev/null
elsewhere none.mtr --no-inline
check '--embed none carries nothing' test -z "$(grep ";main[; ]" elsewhere)"
check 'which --seal completes' "$report" --seal sealed.mtr none.mtr
same '... so that it needs nothing else' sealed.mtr --no-inline
here none.mtr --no-inline
cp here before
here sealed.mtr --no-inline
check '... and says what it said' diff before here
check '... with --embed lines' "$report" --seal sealed.mtr --embed lines none.mtr
same '... inlined functions and lines, too' sealed.mtr --srcline
check '... which are there' grep -q 'steps\.c:' elsewhere
"$mtrec" -q -e page-faults --embed-limit 1K -o limit.mtr "$steps" faults 50 >/dev/null
"$report" --info limit.mtr >info
check 'what --embed-limit leaves out is reported' grep -q 'steps is not carried: no room within --embed-limit' info

# serve PROGRAM...: starts `steps serve` with its words on descriptor 7 and its answers on 8; $served is its pid.
serve() {
	rm -f words answers
	mkfifo words answers
	"$@" serve <words >answers &
	exec 7>words 8<answers
	read -r _ served <&8
}

# record_served PID: records it while it touches pages.
record_served() {
	rm -f live.mtr
	"$mtrec" -q -e page-faults -p "$1" -o live.mtr &
	local recorder=$!
	until_recording $recorder live.mtr
	echo 'touch 20' >&7
	read -r _ <&8
	sleep 0.2
	kill -INT $recorder
	wait $recorder
	exec 7>&- 8<&-
}

cp "$steps" gone
serve ./gone
rm gone
record_served "$served"
elsewhere live.mtr --no-inline
check 'a deleted program is named' grep -Eq ';(ask|serve_thread|touch[a-z_]*);?.* [0-9]+$' elsewhere

cp "$steps" replaced
serve ./replaced
cp "$(type -P true)" other
mv other replaced
record_served "$served"
elsewhere live.mtr --no-inline
check 'a replaced program is named' grep -Eq ';(ask|serve_thread|touch[a-z_]*);?.* [0-9]+$' elsewhere
"$report" --info --prefer-local live.mtr >info
check 'the file that is there now has another build id: the carried one is used' grep -q 'at hand: carried' <(grep -A1 '/replaced' info)

mkdir inside
put_program inside "$steps"
if unshare -rUmpf --mount-proc true 2>/dev/null; then
	# it lives as long as mtrec may need to read its mappings
	(
		echo 'touch 20'
		sleep 3
	) | "$mtrec" -q -e page-faults -o inside.mtr unshare -rUmpf --mount-proc chroot inside /ld.so --library-path / \
		/steps serve >/dev/null
	elsewhere inside.mtr --no-inline
	check 'in a mount and pid namespace of its own, too' grep -q ';main[; ]' elsewhere
else
	skip 'in a mount and pid namespace of its own, too' 'unshare -rUmpf is not allowed here'
fi
# Code that a process makes itself is named in /tmp/perf-PID.map, a file that no longer exists when the recording is read.
if [ "$(uname -m)" = x86_64 ]; then
	"${CC:-cc}" -O1 -g -o jitted "$MT_TOP/tests/workloads/jitted.c" || exit 1
	"$mtrec" -q -e page-faults -o jitted.mtr sh -c 'echo $$ >pid; exec ./jitted 50' >/dev/null
	same 'code named in a perf map, the same where no file is' jitted.mtr --no-inline
	cp elsewhere jitted.folded
	check 'and the recording is sound' "$MT_TOP/scripts/mtdump" --check jitted.mtr
	rm "/tmp/perf-$(cat pid).map"
	here jitted.mtr --no-inline
	check 'and where the perf map is gone' diff jitted.folded here
	check 'with the later of two names' grep -q ';jitted touch of pages 50$' here
	"$mtrec" -q -e page-faults --embed none -o bare.mtr sh -c 'echo $$ >pid; exec ./jitted 50' >/dev/null
	here bare.mtr --no-inline
	check 'a perf map that is not carried is read while it is there' grep -q ';jitted touch of pages 50$' here
	touch -d '1 hour ago' "/tmp/perf-$(cat pid).map"
	here bare.mtr --no-inline
	check 'but not one that an earlier process of that number left' test -z "$(grep jitted.touch here)"
	rm "/tmp/perf-$(cat pid).map"
	mkdir -p inside/tmp
	put_program inside jitted
	if unshare -rUmpf --mount-proc true 2>/dev/null; then
		"$mtrec" -q -e page-faults -o jailed.mtr unshare -rUmpf --mount-proc chroot inside /ld.so --library-path / \
			/jitted 50 2 >/dev/null
		elsewhere jailed.mtr --no-inline
		check 'and in namespaces of its own' grep -q ';jitted touch of pages 50$' elsewhere
	else
		skip 'and in namespaces of its own' 'unshare -rUmpf is not allowed here'
	fi
	ln -sf /etc/hostname inside/tmp/perf-1.map
	"$mtrec" -q -e page-faults -o link.mtr unshare -rUmpf --mount-proc chroot inside /ld.so --library-path / \
		/steps faults 50 >/dev/null 2>&1
	check 'a link in place of a perf map is not followed' test -z "$("$report" -q --folded link.mtr | grep 'perf-1')"
else
	skip 'code named in a perf map' 'the workload is x86-64 code'
fi
check 'all recordings are sound' "$MT_TOP/scripts/mtdump" --check plain.mtr
finish
