#!/bin/bash
# Names of static functions in a stripped program: .gnu_debugdata, .gnu_debuglink and what it refuses.
# timeout: 240
. "$(dirname "$0")/../lib.sh"
for command in "${CC:-cc}" objcopy strip xz nm; do
	needs_command "${command%% *}"
done
cd "$TMPDIR" || exit 1

cat >hidden.c <<'C'
#include <stdlib.h>
#include <string.h>
static char *volatile kept;
__attribute__((noinline)) static void hidden_grower(int n)
{
	for (int i = 0; i < n; i++) {
		kept = malloc(200000);
		memset(kept, 1, 200000);
	}
}
int main(void)
{
	hidden_grower(40);
	return !kept;
}
C
${CC:-cc} -O1 -g hidden.c -o whole 2>why || {
	fail 'the program builds' why
	finish
}
objcopy --only-keep-debug whole whole.debug
objcopy -S --keep-symbol=hidden_grower whole.debug mini && xz -k mini
rm -f packed && cp whole packed && strip packed && objcopy --add-section .gnu_debugdata=mini.xz packed
cp whole linked && strip linked && objcopy --add-gnu-debuglink=whole.debug linked
for name in packed linked; do
	"$MT_BUILD/mtrec" -e page-faults --embed none -o $name.mtr ./$name 2>why || {
		skip 'debug files' "page faults cannot be recorded here: $(tail -n 1 why)"
		finish
	}
done

# names DESCRIPTION FILE OPTION...
names() {
	local description=$1 file=$2
	shift 2
	"$MT_BUILD/mtreport" --folded "$@" "$file" >folded 2>err
	check "$description" grep -q ';hidden_grower;' folded
}
names 'static functions out of .gnu_debugdata' packed.mtr
names '.gnu_debuglink: next to the file' linked.mtr
mkdir .debug && mv whole.debug .debug/
names '.gnu_debuglink: in .debug' linked.mtr
mkdir -p "deb$PWD" && mv .debug/whole.debug "deb$PWD/"
names '.gnu_debuglink: below --debug-dir' linked.mtr --debug-dir deb
printf 'x' >>"deb$PWD/whole.debug"
"$MT_BUILD/mtreport" --folded --debug-dir deb linked.mtr >folded 2>said
check 'a debug file with another checksum is not used' test "$(grep -c hidden_grower folded)" -eq 0
says 'a line says so' 'linked: a debug file is not used: .*whole.debug: .*checksum differs' said
check '--info' "$MT_BUILD/mtreport" --info --debug-dir deb linked.mtr
says '--info, too' 'not used: .*whole.debug: .*checksum differs' "$out"
finish
