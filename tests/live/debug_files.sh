#!/bin/bash
# Names of static functions in a stripped program: .gnu_debugdata, .gnu_debuglink and what it refuses; xz of every shape.
# timeout: 240
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
for command in "${CC:-cc}" objcopy strip xz nm; do
	needs_command "${command%% *}"
done
cd "$TMPDIR" || exit 1

# ---- xz ----
build_tool unpack tests/oracle/xz.c || {
	fail 'the tool builds' "$TMPDIR/why"
	finish
}
head -c 400000 "$MT_BUILD/mtreport" >code
head -c 70000 /dev/urandom >noise
: >nothing
echo word >word
head -c 3000000 /dev/zero >zeros
cat word noise code noise zeros code >mixed

# shape OPTION...: every file packed so comes back.
shape() {
	local file
	: >differ
	for file in code noise nothing word zeros mixed; do
		xz -c "$@" "$file" >packed
		./unpack <packed 2>>differ | cmp -s - "$file" || echo "$file" >>differ
	done
	check "xz $*" test ! -s differ
}
shape -0
shape -9e
shape -C none
shape -C crc32
shape --block-size=65536
shape --lzma2=preset=6,lc=0,lp=4,pb=4
shape --lzma2=dict=4096,lc=4,lp=0,pb=0,mode=fast
{
	xz -c code
	xz -c word
	head -c 8 /dev/zero
	xz -c noise
} >packed
cat code word noise >joined
check 'xz streams one behind the other' cmp <(./unpack <packed) joined
xz -c zeros >packed
expect 1 'a bound on what is unpacked' ./unpack 100000 <packed
xz -c --x86 --lzma2 code >packed
expect 1 'other filters are refused' ./unpack <packed
xz -c mixed >packed
survived=yes
for ((i = 0; i < 200; i++)); do
	cp packed hit
	printf '\x55' | dd of=hit bs=1 seek=$((i * 397 % $(stat -c %s packed))) conv=notrunc 2>/dev/null
	cmp -s hit packed && continue
	./unpack <hit >got 2>/dev/null
	status=$?
	[ $status -eq 1 ] || { [ $status -eq 0 ] && cmp -s got mixed; } || survived="no: byte $((i * 397)), status $status"
done
check 'one byte changed, 200 times: an error each time' test "$survived" = yes

# ---- debug files ----
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
names '.gnu_debuglink: beside the file' linked.mtr
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
