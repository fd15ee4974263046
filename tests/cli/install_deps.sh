#!/bin/bash
# install-deps installs missing packages with the package manager of the system, and installs nothing if none is missing.
. "$(dirname "$0")/../lib.sh"
script=$MT_TOP/scripts/install-deps
mkdir "$TMPDIR/all" "$TMPDIR/bare"

# installer DIRECTORY NAME: makes a package manager that only writes down its arguments.
installer() {
	printf '#!/bin/bash\necho "%s $*" >>"%s/asked"\n' "$2" "$TMPDIR" >"$1/$2"
	chmod +x "$1/$2"
}

# A system with almost nothing: no compiler, no make, no libraries that a compiler could find.
for tool in bash env mktemp rm id dirname; do
	ln -s "$(command -v $tool)" "$TMPDIR/bare/$tool"
done
printf '#!/bin/bash\nexec "$@"\n' >"$TMPDIR/bare/sudo"
chmod +x "$TMPDIR/bare/sudo"

installer "$TMPDIR/all" apt-get
installer "$TMPDIR/all" dnf
expect 0 'if the build works, nothing is missing' env PATH="$TMPDIR/all:$PATH" "$script" build
check '... and nothing is installed' test ! -e "$TMPDIR/asked"
check '... and nothing is printed' test ! -s "$err"

expect 1 'without apt and dnf, install-deps fails' env PATH="$TMPDIR/bare" "$script" check
says '... with one sentence that names what to install' 'neither apt-get nor dnf .* gcc .*make .*libzstd-dev .*clang-format'

installer "$TMPDIR/bare" dnf
expect 0 'with dnf' env PATH="$TMPDIR/bare" "$script" check
says 'the Fedora packages are asked for' '^dnf .*install gcc gcc-c\+\+ make .*libzstd-devel xz-devel .*binutils-devel' "$TMPDIR/asked"

rm "$TMPDIR/asked"
installer "$TMPDIR/bare" apt-get
expect 0 'with apt' env PATH="$TMPDIR/bare" "$script" build
says 'the lists are brought up to date' '^apt-get .*update' "$TMPDIR/asked"
says 'the Debian packages are asked for' '^apt-get .*install .*gcc g\+\+ make .*libzstd-dev liblzma-dev .*libiberty-dev' "$TMPDIR/asked"
check 'and for a build no more than that' test "$(grep -c clang-format "$TMPDIR/asked")" -eq 0

expect 2 'an unknown word is a usage error' "$script" everything
finish
