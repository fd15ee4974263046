#!/bin/bash
# The build as a user runs it: in an exported tree without .git, quiet, in a separate build directory, with install and uninstall.
# With each setting only a few files are compiled; the other tests use a build of the whole tree.
# slow: compiles, and searches for each library again with each setting
# timeout: 180
. "$(dirname "$0")/../lib.sh"

# The exported tree: the files of the tree, without those of git and of a build.
tree=$TMPDIR/tree
mkdir "$tree"
(cd "$MT_TOP" && tar -cf - --exclude=./.git --exclude='./build*' .) | tar -xf - -C "$tree"
cd "$tree" || exit 1
built=$MT_BUILD
unset MT_BUILD
o=$TMPDIR/o
in_tree() {
	make --no-print-directory O="$o" CFLAGS=-O0 "$@"
}
few=()
for file in formats/base/err formats/base/strings formats/base/map64; do few+=("$o/obj/$file.o"); done

expect 0 'make help works without a build' make help
for target in all static check lint install fuzz bench clean; do
	says "help lists $target" "^  make $target " "$out"
done
says 'help lists the settings' 'SAN=address,undefined' "$out"

expect 0 'an exported tree builds in a directory outside the tree' in_tree -j2 V=1 "${few[@]}"
says 'V=1 shows the commands' '-Wmissing-prototypes.* -c formats/base/err.c' "$out"
check '... without a warning' test ! -s "$err"
check '... and builds nothing in the tree' test ! -e build
objdump -p "$built/mtrec" | sed -n 's/.*NEEDED *//p' | grep -Ev '^(libzstd|liblzma|libc|libpthread|libm|ld-linux[^.]*)\.so' >"$TMPDIR/needed"
check 'mtrec needs only libzstd, liblzma and the C library' test ! -s "$TMPDIR/needed"
expect 0 'a second make' in_tree "${few[@]}"
check '... does nothing' test "$(grep -c 'CC\|AR\|LINK' "$out")" -eq 0
expect 0 'make after a header has changed' in_tree -n -W formats/base/strings.h "${few[@]}"
says '... compiles the files that include it' 'CC .*formats/base/strings.c' "$out"
check '... and nothing else' test "$(grep -c 'formats/base/map64.c' "$out")" -eq 0
expect 0 '... also if the path of the build directory is written differently' make --no-print-directory O="../o" CFLAGS=-O0 -n -W formats/base/strings.h "${few[@]/$o/../o}"
says '... than at the first build' 'CC .*formats/base/strings.c' "$out"
check '... and nothing else' test "$(grep -c 'formats/base/map64.c' "$out")" -eq 0
cp "$built/mtrec" "$built/mtreport" "$o/"
expect 0 'install takes DESTDIR and prefix' in_tree -o all install DESTDIR="$TMPDIR/root" prefix=/opt/mt
for program in mtrec mtreport; do
	check "$program is installed" test -x "$TMPDIR/root/opt/mt/bin/$program"
	check '... and its man page' test -f "$TMPDIR/root/opt/mt/share/man/man1/$program.1"
	check '... and its completion' test -f "$TMPDIR/root/opt/mt/share/bash-completion/completions/$program"
done
check '... and the specification of the format' test -f "$TMPDIR/root/opt/mt/share/doc/mtrec/FORMAT.md"
for picture in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$MT_TOP/docs/pages.md"); do
	test -f "$TMPDIR/root/opt/mt/share/doc/mtrec/$picture" || echo "$picture"
done >"$TMPDIR/pictures"
check '... and the pictures that its documents show' diff /dev/null "$TMPDIR/pictures"
expect 0 'make uninstall' in_tree uninstall DESTDIR="$TMPDIR/root" prefix=/opt/mt
check '... leaves no file' test -z "$(find "$TMPDIR/root" -type f)"

expect 0 'make after the flags have changed' make --no-print-directory O="$o" CFLAGS=-O1 "$o/obj/formats/base/map64.o"
says '... compiles again, with one quiet line' '^  CC +formats/base/map64.c$' "$out"

# A compiler that finds no zstd, but all other libraries.
printf '#!/bin/sh\ncase "$*" in *-lzstd*) exit 1 ;; esac\nexec %s "$@"\n' "$CC" >"$TMPDIR/cc"
chmod +x "$TMPDIR/cc"
expect 2 'a missing library stops the build' make O="$TMPDIR/missing" CC="$TMPDIR/cc"
says '... with one sentence that names the packages' 'libzstd is missing: install libzstd-dev \(Debian.*libzstd-devel \(Fedora' "$err"
check '... and nothing else' test "$(grep -vc '^make: \*\*\*' "$err")" -eq 1
sed -i 's/-lzstd/-liberty/' "$TMPDIR/cc"
expect 2 'another missing library stops it, too' make O="$TMPDIR/missing" CC="$TMPDIR/cc"
says '... with a sentence that names its packages' 'libiberty is missing: install libiberty-dev \(Debian.*binutils-devel \(Fedora' "$err"
expect 2 'a missing compiler stops the build' make O="$TMPDIR/missing" CC=no-such-compiler
says '... with a sentence that says what to install' "no compiler 'no-such-compiler': install gcc"

expect 0 'make clean' in_tree clean
check '... removes the build directory' test ! -e "$o"
finish
