#!/bin/bash
# The lint finds what it claims to find: for each rule, a file that breaks it is reported, and good files pass.
# slow: lints a tree for each rule
. "$(dirname "$0")/../lib.sh"
python=$(python3 -c 'import sys; print(sys.executable)')
tree=$TMPDIR/tree

# A tree with one good file and its header; only the file that a test adds is wrong.
fresh_tree() {
	rm -rf "$tree"
	mkdir -p "$tree/formats/base" "$tree/symbols" "$tree/unwind" "$tree/record" "$tree/report/outputs" "$tree/scripts"
	cp "$MT_TOP/.clang-format" "$tree"
	printf '%s\n' '/* A good header. */' '#ifndef MT_GOOD_H' '#define MT_GOOD_H' '' '/* Twice n. */' \
		'int mt_good_twice(int n);' 'void mt_good_destroy(void *good);' '' '#endif' >"$tree/formats/good.h"
	printf '%s\n' '/* A good file. */' '#include "formats/good.h"' '' 'int mt_good_twice(int n)' '{' \
		'	return 2 * n; /* exit(), printf() in a comment */' '}' >"$tree/formats/good.c"
}

# complains SCRIPT DESCRIPTION REGEX: checks that the script complains about the tree with a matching line.
complains() {
	expect 1 "$2" "$python" "$MT_TOP/scripts/$1" --root "$tree"
	says '... and says where' "$3" "$out"
}

# bad PATH: makes a fresh tree with one more file, whose text is read from standard input.
bad() {
	fresh_tree
	mkdir -p "$(dirname "$tree/$1")"
	cat >"$tree/$1"
}

fresh_tree
expect 0 'a good tree has good style' "$python" "$MT_TOP/scripts/check-style" --root "$tree"
expect 0 'a good tree has good layers' "$python" "$MT_TOP/scripts/check-layers" --root "$tree"

printf '%s\n' '/* Told in a comment. */' 'static int is_told(void);' | bad formats/words.c
complains check-style 'a retired word in an identifier' 'formats/words.c:2: is_told: told is retired: reported'
complains check-style 'a retired word in a comment' 'formats/words.c:1: a comment: told is retired: reported'
printf '%s\n' '#!/bin/bash' '# Names.' 'as_told=told # be''hind' | bad scripts/words.sh
complains check-style 'a retired word in the name of a variable' 'scripts/words.sh:3: as_told: told is retired'
complains check-style 'a retired word in a comment of a script' 'scripts/words.sh:3: a comment: behind is retired'

{
	printf '/* Long. */\nvoid mt_long(void)\n{\n'
	yes '	;' | head -n 101
	echo '}'
} | bad formats/long.c
complains check-style 'a function of 101 lines' '^formats/long.c:3: mt_long\(\) has 101 lines, over 100'

yes '// page' | head -n 2501 | bad report/outputs/html/page.js
complains check-style 'a page of 2,501 lines' '^report/outputs/html:0: 2501 lines, over 2500'

{
	echo '/* Long. */'
	yes 'extern int mt_x;' | head -n 900
} | bad formats/long.c
complains check-style 'a file of 901 lines' '^formats/long.c:1: 901 lines, over 900'

for i in 1 2 3 4 5 6; do
	printf '/* Long. */\nvoid mt_long_%s(void)\n{\n' $i
	yes '	;' | head -n 16
	echo '}'
done | bad formats/long.c
complains check-style 'functions of 16 lines, mostly' '^functions:0: the median has 16 lines, over 15'

printf '/* Wide. */\nint mt_wide; /* %090d */\n' 0 | bad formats/wide.c
complains check-style 'a line of 109 columns' '^formats/wide.c:2: 109 columns, over 100'

printf '/* Spaces. */\nstruct mt_spaces {\n        int n;\n};\n' | bad formats/spaces.c
complains check-style 'indentation with spaces' '^formats/spaces.c:3: indented with spaces'

printf '/* Opens. */\n#include <fcntl.h>\nint mt_opens(const char *p);\nint mt_opens(const char *p)\n{\n\treturn open(p, O_RDONLY);\n}\n' |
	bad symbols/opens.c
complains check-style 'a path that is opened without a look' '^symbols/opens.c:6: opens a path: mt_foreign_open'

printf '/* Maps. */\nint mt_maps(int fd);\nint mt_maps(int fd)\n{\n\treturn mt_elf_open_fd(fd, 0, 0);\n}\n' | bad record/maps.c
complains check-style 'a mapping of a foreign file in the recorder' '^record/maps.c:5: maps a file: the recorder reads it'

printf 'int mt_no_head;\n' | bad formats/head.c
complains check-style 'a file without a comment at the head' '^formats/head.c:1: no comment at the head'

printf '#!/bin/sh\ntrue\n' | bad scripts/head.sh
complains check-style 'a script without a comment at the head' '^scripts/head.sh:1: no comment at the head'

printf '/* Prints. */\n#include <stdio.h>\n\nvoid mt_p(void)\n{\n\tprintf("x");\n}\n' | bad formats/print.c
complains check-style 'a library that prints' '^formats/print.c:6: only main.c prints or exits: printf'

printf '/* Unbounded. */\n#include <string.h>\n\nvoid mt_p(char *p)\n{\n\tstrcpy(p, "x");\n}\n' | bad formats/copy.c
complains check-style 'strcpy' '^formats/copy.c:6: unbounded function: strcpy'

printf '/* Alone. */\nvoid mt_alone_destroy(size_t n);\n' | bad formats/alone.h
complains check-style 'a header that does not compile alone' '^formats/alone.h:1: does not compile alone: .*size_t'

printf '/* Bare. */\n\nint mt_bare(void);\n' | bad formats/bare.h
complains check-style 'an exported function without a comment' '^formats/bare.h:3: mt_bare\(\) is exported without a comment'

printf '/* The same name. */\nextern int mt_same;\n' | bad symbols/good.c
complains check-style 'two files with the same name' '^symbols/good.c:1: has the name of formats/good.c'

fresh_tree
mkdir "$TMPDIR/bin"
cc=$(command -v "$CC")
expect 0 'without clang-format the rest is checked' \
	env PATH="$TMPDIR/bin" CC="$cc" "$python" "$MT_TOP/scripts/check-style" --root "$tree"
says '... and the lint says clearly what was not checked' '\*\*\* lint: clang-format is not installed: FORMATTING WAS NOT CHECKED'

if command -v clang-format-14 >/dev/null || clang-format --version 2>/dev/null | grep -q 'version 14'; then
	printf '/* Crooked. */\nint  mt_crooked ;\n' | bad formats/crooked.c
	complains check-style 'a badly formatted file' '^formats/crooked.c:2: is formatted otherwise'
else
	skip 'a badly formatted file' 'clang-format 14 is not installed'
fi

# includes FROM WHAT COMPLAINT: checks an #include that the layers forbid.
includes() {
	printf '/* Layers. */\n#include %s\n' "$2" | bad "$1"
	complains check-layers "$1 includes $2" "^$1:[12]: $3"
}
includes formats/x.c '"symbols/elf/elf.h"' 'formats/ may not include symbols/elf/elf.h'
includes formats/base/x.c '"formats/chunks/chunk.h"' 'formats/base/ may not include formats/chunks/chunk.h'
includes symbols/names/x.c '"unwind/unwind.h"' 'symbols/names/ may not include unwind/unwind.h'
includes unwind/x.c '"symbols/names/symbolize.h"' 'unwind/ may not include symbols/names/symbolize.h'
includes record/x.c '"report/session/session.h"' 'record/ may not include report/session/session.h'
includes record/x.c '"symbols/names/symbolize.h"' 'record/ may not include symbols/names/symbolize.h'
includes record/x.c '<libiberty/demangle.h>' 'record/ may not use libiberty'
includes report/x.c '"record/open/ring.h"' 'report/ may not include record/open/ring.h'
includes report/outputs/x.c '"formats/records/sample.h"' 'report/outputs/ may not include formats/records/sample.h'
includes report/x.c '"session.h"' '"session.h": includes are paths from the root'
includes formats/records/x.c '"formats/stacks/word_code.h"' 'formats/records/ may not include formats/stacks/word_code.h'
includes formats/shed/x.c '<stdio.h>' 'no room of that name: formats/shed/'

printf '/* Low. */\nvoid mt_low(void)\n{\n\tmt_high();\n}\n' | bad formats/base/low.c
printf '/* High. */\nvoid mt_high(void)\n{\n}\n' >"$tree/formats/high.c"
complains check-layers 'a use of a file in a higher folder' '^formats/base/low.c:1: formats/base/ may not use mt_high of formats/high.c'
printf '/* High. */\nvoid mt_high(void)\n{\n\tmt_low();\n}\n' >"$tree/formats/base/high.c"
rm "$tree/formats/high.c"
complains check-layers 'a circle of two files' '^formats/base/high.c:1: uses itself in a circle over formats/base/low.c'
expect 0 'the circles are printed' "$python" "$MT_TOP/scripts/check-layers" --root "$tree" --circles
says '... with what is used' 'low.c uses high.c: mt_high' "$out"

mkdir -p "$TMPDIR/obj/formats"
printf 'static int counter;\nint mt_count(void)\n{\n\treturn counter++;\n}\n' | $CC -x c - -c -o "$TMPDIR/obj/formats/bad.o"
expect 1 'a mutable global' "$python" "$MT_TOP/scripts/check-globals" "$TMPDIR/obj"
says '... is named' '^formats/bad.c:1: mutable global: counter' "$out"
printf 'const char *const mt_names[] = {"a", 0};\n' | $CC -fPIE -x c - -c -o "$TMPDIR/obj/formats/bad.o"
expect 0 'a const table is not a mutable global' "$python" "$MT_TOP/scripts/check-globals" "$TMPDIR/obj"
finish
