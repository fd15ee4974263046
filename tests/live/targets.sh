#!/bin/bash
# -u, -G and --comm limit every figure of a report to the targets: no figure has the 1 TB that another process maps.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'other users, and the whole host'
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
chmod 755 .

# reserves SIZE GB, as a sanitizer does, and 2 MB that it touches; does both before it reads a line and again after it
cat >reserver.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void reserve(size_t size, int prot)
{
	char *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED && prot)
		memset(p, 1, size);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoull(argv[1], NULL, 10) << 30 : 0;
	char line[16];

	if (size)
		reserve(size, PROT_NONE);
	printf("%d\n", getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (size)
		reserve(size, PROT_NONE);
	reserve(2 << 20, PROT_READ | PROT_WRITE);
	puts("done");
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}
END
${CC:-cc} -O1 -g -o chosen reserver.c || skip_all 'reserver does not compile'
cp chosen outsider

mkfifo to_chosen from_chosen to_other from_other
chmod 666 to_* from_*
exec 3<>to_chosen 4<>from_chosen 5<>to_other 6<>from_other

# begin COMMAND...: starts the command that becomes a target, next to the other one
begin() {
	"$@" <&3 >&4 3<&- 4<&- 5<&- 6<&- &
	jobs_of="$!"
	./outsider 1024 <&5 >&6 3<&- 4<&- 5<&- 6<&- &
	jobs_of="$jobs_of $!"
	read -r chosen <&4
	read -r other <&6
}

finish_both() {
	echo >&3
	echo >&5
	# shellcheck disable=SC2086
	wait $jobs_of
	jobs_of=
}

# go_on is the command that runs during recording
cat >go_on <<'END'
#!/bin/bash
sleep 0.3
echo >to_chosen; echo >to_other
read -r _ <from_chosen; read -r _ <from_other
./outsider 0 </dev/null >/dev/null # begins, and ends, meanwhile
sleep 0.3
END
chmod +x go_on

# attempt OPTION...: records $program and the other program from their start on
program=() jobs_of=
attempt() {
	[ -z "$jobs_of" ] || finish_both
	begin "${program[@]}"
	record_once "$mtrec" -e vm,rss "$@" -o f.mtr -- ./go_on
}

# limits OPTION...: checks that every analysis has $program and not the other program
limits() {
	local words=$*

	until_none_lost "$err" attempt "$@"
	is "$words is recorded" $? 0
	says '... without losses, in one of three attempts' ', 0 lost -> '
	check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check f.mtr
	for analysis in '--processes' '--growth --by process' '--outstanding --all --by process' '--maps' '--resident --by process' \
		'--verdict --by process' '--faults --by process' '--resident --timeline 1s --by process'; do
		# shellcheck disable=SC2086
		"$report" -q $analysis --csv f.mtr >rows
		[ "$analysis" = '--verdict --by process' ] || check "... $analysis has the target" grep -qE "(^|,)$chosen," rows
		is '... and no other process' "$(grep -cE "(^|,)$other,|,outsider" rows)" 0
	done
	"$report" -q f.mtr >summary
	is '... nor has the summary' "$(grep -cE '(^| )outsider( |:|$)|[0-9] TB' summary)" 0
	is '... and mapped is what the target mapped' \
		"$("$report" -q --growth --by process --csv f.mtr | awk -F, -v p="$chosen" '$1 == p { print $3 }')" $((2 << 20))
	"$report" -q --maps --csv f.mtr >rows
	between "... of which /proc said before what else it has" 10 "$(grep -c "^$chosen," rows)" 100
	finish_both
}

program=(setpriv --reuid=65534 --clear-groups ./chosen)
limits -u 65534
program=(./chosen)
limits -a --comm '^chosen$'

group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/mtrec-test.$$
if mkdir "$group" 2>/dev/null; then
	program=(bash -c "echo 0 >'$group/cgroup.procs'; exec ./chosen")
	"$mtrec" -q -e page-faults -G "${group##*/}" -o f.mtr -- true 2>why
	if grep -q 'its perf_event part does not exist' why; then
		skip '-G' 'subtree_control of the root was never written to'
	else
		limits -G "${group##*/}"
	fi
	rmdir "$group"
else
	skip '-G' 'no cgroup of version 2 can be made'
fi

# Events of mtrec's own child before it becomes the command do not count.
check 'the whole host is recorded while a command runs' "$mtrec" -q -e page-faults -a -o host.mtr -- true
pid=$("$MT_TOP/scripts/mtdump" --records host.mtr | sed -n 's/.* INFO .*key="command-pid" value="\([0-9]*\)".*/\1/p')
is '... whose process has samples under its own name alone' \
	"$("$report" -q --samples --by comm --csv --pid "$pid" host.mtr | cut -d, -f1,2)" $'event,comm\npage-faults,true'
finish
