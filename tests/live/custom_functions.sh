#!/bin/bash
# --alloc-function, --free-function: mtreport follows the blocks of a program's own pool like those of an allocator.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

# A library with a pool whose sizes are 32 bits wide, and a program with cells of one size.
cat >pool.c <<'C'
#include <stdlib.h>
#include <string.h>
static char *at, *end;
__attribute__((noinline)) void *pool_alloc(int which, unsigned count, unsigned size)
{
	char *block;

	if (size > 100000)
		return NULL;
	size *= count;
	if (at + size + 16 > end) {
		at = malloc(1 << 20);
		end = at + (1 << 20);
	}
	block = at + 16;
	at += (size + 31) & ~15u;
	return which ? block : NULL;
}
__attribute__((noinline)) void pool_free(int which, void *block)
{
	memset(block, which, 8);
}
__attribute__((noinline)) void *pool_grow(void *old, unsigned size)
{
	void *block = pool_alloc(1, 1, size);

	return old && block ? memcpy(block, old, 8) : block;
}
C
cat >program.c <<'C'
#include <stdlib.h>
void *pool_alloc(int which, unsigned count, unsigned size);
void pool_free(int which, void *block);
void *pool_grow(void *old, unsigned size);
struct cell {
	struct cell *next;
	char bytes[56];
};
static struct cell *unused;
__attribute__((noinline)) static struct cell *cell_alloc(void)
{
	struct cell *cell = unused;

	if (cell)
		unused = cell->next;
	return cell ? cell : malloc(sizeof(*cell));
}
__attribute__((noinline)) static void cell_free(struct cell *cell)
{
	cell->next = unused;
	unused = cell;
}
__attribute__((noinline)) static void keep(void)
{
	for (int i = 0; i < 100; i++)
		pool_free(1, pool_alloc(1, 2, 40));
	for (int i = 0; i < 50; i++)
		pool_alloc(1, 4, 50);
}
__attribute__((noinline)) static void grow(void)
{
	for (int i = 0; i < 10; i++)
		pool_grow(pool_grow(NULL, 100), 300);
}
__attribute__((noinline)) static void cells(void)
{
	struct cell *all[10];

	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < 10; i++)
			all[i] = cell_alloc();
		for (int i = 0; i < 10; i++)
			cell_free(all[i]);
	}
	for (int i = 0; i < 7; i++)
		cell_alloc();
}
int main(void)
{
	keep();
	grow();
	cells();
	pool_alloc(1, 1, 1000000);
	return 0;
}
C
flags='-O1 -fno-builtin -fno-optimize-sibling-calls -fno-inline'
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC -o libpool.so pool.c && ${CC:-cc} $flags -o program program.c -L. -lpool -Wl,-rpath,"$PWD" || exit 1

pool=(--alloc-function 'pool_alloc(size=arg3:u32,count=arg2:u32)' --free-function 'pool_free(ptr=arg2)'
	--alloc-function 'libpool:pool_grow(size=arg2:u32,old=arg1)')
cells=(--alloc-function 'cell_alloc(size=64)' --free-function './program:cell_free(ptr=arg1)')
record() { # TITLE OPTION...
	record_without_losses "$1" "$mtrec" -o m.mtr "${@:2}" -- ./program
	"$MT_BUILD/mtreport" --blocks --csv m.mtr >csv 2>"$TMPDIR/said"
}
# kept FUNCTION: prints the number of live blocks of FUNCTION, and their bytes
kept() { awk -F, -v path=";$1\"" 'NR == 1 { for (i = 1; i <= NF; i++) is[$i] = i } index($0, path) { print $is["blocks"] "," $is["bytes"] }' csv; }
own() {
	is '... has the blocks that the pool gave and that were not freed' "$(kept keep)" 50,10000
	is '... has the blocks that replaced another block' "$(kept grow)" 10,3000
	is '... cells of a fixed size' "$(kept cells)" 7,448
	is '... a failed call counts' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) is[$i] = i } /;main"/ { print $is["failed"] }' csv)" 1
}

record 'own functions alone' "${pool[@]}" "${cells[@]}"
says '... says where the functions are' 'pool_alloc of .*libpool.so, pool_grow of .*libpool.so, cell_alloc of .*program' "$err"
own
is '... and no others' "$("$MT_TOP/scripts/mtdump" m.mtr | grep -c '"malloc"')" 0
record 'with the allocator' -e malloc "${pool[@]}" "${cells[@]}"
own
is '... whose blocks are the large ones' "$(kept pool_alloc)" 1,1048576

expect 2 'a function that does not exist' "$mtrec" -o no.mtr --alloc-function 'pool_all(size=arg1)' -- ./program
says '... is reported' 'no function pool_all in what the targets map or need'
expect 2 'a file without the function' "$mtrec" -o no.mtr --alloc-function 'libc:pool_alloc(size=arg1)' -- ./program
says '... is reported' 'no function pool_alloc in libc'
expect 2 'only a free function' "$mtrec" -o no.mtr --free-function 'pool_free(ptr=arg2)' -- ./program
says '... is an error, because there are no blocks' 'no function gives blocks'
expect 2 'a function without arguments' "$mtrec" -o no.mtr --alloc-function pool_alloc -- ./program
says '... gets a message with an example' 'pool_alloc\(size=arg2\)'
"$mtrec" --stat "${pool[@]}" -- ./program >"$out" 2>"$err"
says '--stat counts calls' '^ *171 +pool_alloc' "$err"
check 'nothing is left in tracefs' probes_are_gone
finish
