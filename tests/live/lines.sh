#!/bin/bash
# Lines and inlined calls of a C++ program against GNU addr2line, in every form that debug information comes in; then damaged.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
for command in "${CXX:-g++}" addr2line readelf objcopy; do
	needs_command "$command"
done
build_tool lines tests/oracle/lines.c || {
	fail 'the tool builds' "$TMPDIR/why"
	finish
}
compare=$MT_TOP/tests/oracle/lines.py
cd "$TMPDIR" || exit 1
cp "$MT_TOP/tests/workloads/inlined.cpp" .

# ask FILE ANSWER: of the addresses at hand.
ask() {
	./lines "$1" <addresses >"$2" 2>"$2.err" && ! [ -s "$2.err" ]
}

# agrees DESCRIPTION FLAG...: a program built so, with addr2line.
agrees() {
	local description=$1
	shift
	if ! "${CXX:-g++}" -std=c++17 -O2 "$@" inlined.cpp -o inlined 2>why; then
		skip "$description" 'the compiler cannot build it'
		return
	fi
	"$compare" addresses inlined 2000 >addresses
	addr2line -a -i -f -C -e inlined <addresses >theirs
	ask inlined ours
	check "$description" "$compare" compare ours theirs
	sed 's/^/# /' "$out"
}

agrees 'as addr2line has it, DWARF 4 with type units' -gdwarf-4 -fdebug-types-section
agrees 'DWARF 5, functions in sections of their own' -gdwarf-5 -ffunction-sections -Wl,--gc-sections
agrees 'the same, DWARF 5' -gdwarf-5
sed 's/^/# /' <(./lines -t inlined <addresses)

# same DESCRIPTION FILE: the answers about the program at hand, from another form of it.
same() {
	ask "$2" other
	check "$1" cmp ours other
}

for how in zlib zlib-gnu zstd; do
	if objcopy --compress-debug-sections=$how inlined packed 2>why; then
		same "compressed sections: $how" packed
	else
		skip "compressed sections: $how" 'objcopy cannot do that'
	fi
done
if command -v dwz >/dev/null; then
	cp inlined one && cp inlined two && dwz -m common one two 2>why && [ -s common ]
	same 'what dwz moved to another file' one
else
	skip 'what dwz moved to another file' 'no dwz'
fi
for version in 4 5; do
	"${CXX:-g++}" -std=c++17 -O2 -gdwarf-$version -gsplit-dwarf inlined.cpp -o split 2>why
	same "split into a .dwo, version $version" split
done
if command -v llvm-dwp >/dev/null && llvm-dwp -e split -o split.dwp 2>why; then
	rm -f ./*.dwo
	same 'packed into a .dwp' split
else
	skip 'packed into a .dwp' 'no llvm-dwp'
fi

sed -n 1,300p addresses >few && mv few addresses
check 'damage is survived and noted' ./lines -m 300 inlined <addresses
sed 's/^/# /' "$out"
finish
