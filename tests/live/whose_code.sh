#!/bin/bash
# The headline of a stack is a function of the program: of its file or of libraries in its own directory tree, wherever that is. --ours
# and --not-ours override this. mtreport reports JIT code without names as such.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command "${CC:-gcc}"
cd "$TMPDIR" || exit 1
mkdir -p x/lib other
cc=${CC:-gcc}

# library FILE FUNCTION: builds a library whose function touches memory that it allocates.
library() {
	printf '#include <stdlib.h>\n#include <string.h>\nvoid *%s(void) { return memset(malloc(1 << 20), 1, 1 << 20); }\n' "$2" >library.c
	"$cc" -g -O1 -fPIC -shared library.c -o "$1"
}
library x/lib/libstore.so store_grow
library other/libcommon.so common_grow
cat >server.c <<'END'
void *store_grow(void), *common_grow(void);
volatile int done;
__attribute__((noinline)) void serve_store(void) { store_grow(); done++; }
__attribute__((noinline)) void serve_common(void) { common_grow(); done++; }
int main(void)
{
	for (int i = 0; i < 8; i++) {
		serve_store();
		serve_common();
	}
	return 0;
}
END
"$cc" -g -O1 server.c x/lib/libstore.so other/libcommon.so -Wl,-rpath,"$TMPDIR/x/lib:$TMPDIR/other" -o x/lib/server ||
	skip_all 'the compiler cannot build it'
check 'the server is recorded' "$mtrec" -q -e page-faults -o server.mtr x/lib/server

# headlines OPTION...: prints the functions that --summary lists.
headlines() {
	"$MT_BUILD/mtreport" -q --summary "$@" server.mtr | sed -n '/^  by function/,/^$/s/.* % *[0-9,]*  \([^ ]*\)  (\([^,)]*\).*/\1 \2/p' >functions
}
headlines
check 'a library in the tree of a server is its own' grep -qx 'store_grow libstore.so' functions
check '... one from elsewhere is not: its caller is the headline' grep -qx 'serve_common server' functions
check '... nor is any of the runtime' sh -c '! grep -E "libc|memset|malloc" functions'
headlines --ours 'libcommon\.so'
check '--ours makes it so' grep -qx 'common_grow libcommon.so' functions
headlines --not-ours '/libstore'
check '--not-ours makes it another' grep -qx 'serve_store server' functions
check '... and leaves the others' grep -qx 'serve_common server' functions
expect 2 'an expression that does not compile is a usage error' "$MT_BUILD/mtreport" --ours '(' server.mtr

# A program has the name under which it was started, unless it was started under several names.
mkdir bin
"$cc" -O1 -x c -o bin/check-store - <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 500; i++)
		memset(malloc(4096), 1, 4096);
	return (int)sleep(2); /* the recorder asks a process that runs for its name */
}
END
ln -s check-store bin/store-server
ln -s check-store bin/store-tool
place_of() {
	"$MT_BUILD/mtreport" -q --summary "$@" | sed -n 's/.* main  (\([^,)]*\).*/\1/p' | sort -u
}
check 'a program is started through a link' "$mtrec" -q -e page-faults -o started.mtr bin/store-server
check '... and its image is called as the link' test "$(place_of started.mtr)" = store-server
"$MT_BUILD/mtreport" -q --sort dso started.mtr >by_image
check '... in a table, too' grep -q '/bin/store-server$' by_image
place_of started.mtr -d store-server >by_link
check '... and is selected by that' grep -qx store-server by_link
check 'it is started through two' "$mtrec" -q -e page-faults -o several.mtr sh -c 'bin/store-server; bin/store-tool'
check '... and has the name of its file' test "$(place_of several.mtr)" = check-store

if command -v node >/dev/null; then
	echo 'const kept = []; function grow(i) { kept.push(Buffer.alloc(1 << 16, 1)); if (i) grow(i - 1); } for (let i = 0; i < 200; i++) grow(9);' >grow.js
	"$mtrec" -q -e page-faults -o node.mtr node grow.js
	"$MT_BUILD/mtreport" -q --summary node.mtr >summary
	check 'runs of JIT code are one entry' grep -Eq 'JIT code x[0-9]' summary
	check '... and a line says what would name it' grep -q '^names    node: JIT code has no names' summary
	check '... once' test "$(grep -c 'JIT code has no names' summary)" = 1
else
	skip 'runs of JIT code are one entry' 'node is not installed'
fi
finish
