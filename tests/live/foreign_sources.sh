#!/bin/bash
# Debug information may name files that are not sources of the program. --annotate and --html, run by root, show no line of a file that
# a link leads to, nor of a file in the current directory.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'files that only root reads'
needs_compiler
cd "$TMPDIR" || exit 1
mkdir D elsewhere
ln -s /etc/shadow D/x.c
echo 'hidden words 1' >secret
cp secret secret.c
chmod 600 secret secret.c
ln -s "$PWD/secret" D/ours.c
ln -s "$PWD/secret.c" D/theirs.c
chown -h 65534 D/theirs.c
echo 'hidden words 2' >elsewhere/relative.c
echo 'shown words' >D/source.c

# grows NAME FILE: writes a function whose debug information says that its lines are in FILE.
grows() {
	echo '#include <sys/mman.h>'
	echo "#line 1 \"$2\""
	echo "__attribute__((noinline)) int in_$1(void) { for (int i = 0; i < 40; i++) *(volatile char *)mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1; return 1; }"
}
for name in x ours theirs source; do grows $name "$PWD/D/$name.c"; done >grows.c
echo 'int in_relative(void); int main(void) { return !(in_x() + in_ours() + in_theirs() + in_source() + in_relative()); }' >>grows.c
grows relative relative.c >relative.c
${CC:-cc} -g -O1 -fdebug-prefix-map="$PWD=." -c relative.c && ${CC:-cc} -g -O1 -o grows grows.c relative.o || exit 1
"$mtrec" -q -e page-faults -o grows.mtr -- ./grows || exit 1

cd elsewhere || exit 1
for name in x ours theirs source relative; do
	"$MT_BUILD/mtreport" -q --annotate in_$name ../grows.mtr >$name.lines 2>&1
	check "--annotate in_$name names the file" grep -q "/$name\.c" $name.lines
done
"$MT_BUILD/mtreport" -q --html - ../grows.mtr | sed -n 's/.*<script id="data"[^>]*>\([^<]*\)<.*/\1/p' | base64 -d | gunzip >page.lines
for output in source page; do
	check "the program's source is shown: $output" grep -aq 'shown words' $output.lines
done
for output in x ours theirs relative page; do
	is "no line of another file is shown: $output" "$(grep -acE 'hidden words|^.*root:[^ ]*:[0-9]*:' $output.lines)" 0
done
finish
