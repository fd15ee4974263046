#!/bin/bash
# With little memory, mtrec records or says why not; a file that ends early has all that its stacks need.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

# With some of these sizes mtrec begins and then gets no thread, ring or block. Under a sanitizer it never begins.
falls=
for kib in 20000 30000 40000 50000 60000 70000 80000 100000 150000; do
	(ulimit -c 0 && ulimit -v "$kib" && exec "$mtrec" -e page-faults -o memory.mtr -- true) >"$out" 2>"$err"
	case $? in
	0 | 125 | 127) [ -s "$err" ] || falls+=" $kib:silent" ;;
	*) falls+=" $kib:$?" ;;
	esac
done
is 'short of memory it records or says why not' "$falls" ''

# If mtrec failed after it opened the output, it would keep the older file as FILE.old; a second failure would overwrite that.
echo 'an earlier recording' >kept.mtr
for kib in 20000 25000 30000 35000 40000 45000 50000 55000; do
	(ulimit -c 0 && ulimit -v "$kib" && exec "$mtrec" -q -e page-faults -o kept.mtr -- false) >"$out" 2>"$err"
	[ $? -ne 1 ] || break # it had enough
done
says 'failing again and again loses no earlier recording' '^an earlier recording$' <(cat kept.mtr kept.mtr.old 2>/dev/null)

# A command that runs for less than the time between two marks fills several blocks. The ring of its first CPU has what it maps
# before it moves to another CPU: every block brings along the records that its samples need.
for how in faults moved; do
	"$mtrec" -q -z0 -e brk,page-faults -o whole.mtr -- "$steps" $how 20000 >/dev/null
	if [ $? -eq 3 ]; then
		skip 'a file of a command that comes to another CPU' 'there is but one'
		continue
	fi
	size=$(stat -c %s whole.mtr)
	for part in 50 90; do
		head -c $((size * part / 100)) whole.mtr >cut.mtr
		expect 0 "$part % of a file is read ($how)" "$MT_BUILD/mtreport" --folded -q -o folded cut.mtr
		check '... and nearly all its stacks reach the root' awk '
			{ all += $NF } /;_start;|;__libc_start/ { whole += $NF } END { exit !(all > 1000 && whole >= 0.95 * all) }' folded
	done
done
finish
