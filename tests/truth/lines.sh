#!/bin/bash
# Compares the lines and inlined calls of a C++ program with those of GNU addr2line, for every form of debug information; then damages
# the debug information.
# timeout: 600
# slow: builds a program with every form of debug information
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

# ask FILE ANSWER: writes the answers about the current addresses.
ask() {
	./lines "$1" <addresses >"$2" 2>"$2.err" && ! [ -s "$2.err" ]
}

# agrees DESCRIPTION FLAG...: builds a program with these flags, and compares its lines with addr2line.
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

# same DESCRIPTION FILE: checks that FILE, another form of the current program, gives the same answers.
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
# addr2line of binutils 2.40 finds no inlined calls if a file has type units of version 5
"${CXX:-g++}" -std=c++17 -O2 -gdwarf-5 -fdebug-types-section inlined.cpp -o typed 2>why
same 'DWARF 5 with type units' typed

# gcc 13 and later know -gz=zstd, and pass it to the assembler and the linker
for flags in -gz=zlib -gz=zstd '-Wa,--compress-debug-sections=zstd -Wl,--compress-debug-sections=zstd'; do
	# shellcheck disable=SC2086
	if "${CXX:-g++}" -std=c++17 -O2 -gdwarf-5 $flags inlined.cpp -o packed 2>why &&
		readelf -SW packed | grep -q '\.debug_info .* C '; then
		same "compressed by the compiler: $flags" packed
	else
		skip "compressed by the compiler: $flags" 'it cannot do that'
	fi
done

# build_split FLAG...: builds ./split and its .dwo.
build_split() {
	rm -f ./*.dwo split.dwp
	"${CXX:-g++}" -std=c++17 -O2 -gsplit-dwarf "$@" inlined.cpp -o split 2>why && ls ./*.dwo >/dev/null
}

# libdw reads a .dwp from elfutils 0.191 on
printf '#include <elfutils/version.h>\n#if !_ELFUTILS_PREREQ(0, 191)\n#error old\n#endif\n' | "${CC:-cc}" -E - >why 2>&1
reads_packages=$?

# pack TOOL: packs the .dwo into a .dwp.
pack() {
	command -v "$1" >/dev/null && { "$1" -e split -o split.dwp; } 2>why && [ -s split.dwp ] && rm -f ./*.dwo
}

for version in 4 5; do
	"${CXX:-g++}" -std=c++17 -O2 -gdwarf-$version inlined.cpp -o one 2>why
	if command -v dwz >/dev/null && cp one two && dwz -m common one two 2>why && [ -s common ]; then
		same "what dwz moved to another file, version $version" one
	else
		skip "what dwz moved to another file, version $version" 'no dwz, or it cannot read that'
	fi
	rm -f common
	for types in '' -fdebug-types-section; do
		# shellcheck disable=SC2086
		build_split -gdwarf-$version $types
		if [ "$version$types" = 5-fdebug-types-section ]; then # in sections of one name, of which libdw takes one
			./lines split <addresses >other 2>other.err
			says 'split into a .dwo, version 5 with type units: that it cannot be read is said' 'type units of DWARF 5' other.err
		else
			same "split into a .dwo, version $version${types:+ with type units}" split
		fi
		for tool in llvm-dwp dwp; do
			# shellcheck disable=SC2086
			build_split -gdwarf-$version $types
			if ! pack $tool; then
				skip "packed by $tool, version $version${types:+ with type units}" 'it is not there, or cannot read that'
			elif [ $reads_packages -ne 0 ]; then
				./lines split <addresses >other 2>other.err
				says "packed by $tool, version $version${types:+ with type units}: elfutils is too old, and that is said" \
					'no such file with that id, or a .dwp \(elfutils before 0.191\)' other.err
			else
				same "packed by $tool, version $version${types:+ with type units}" split
			fi
		done
	done
done

# Functions that have no linkage name, inlined.
cat >scoped.cpp <<'C'
#include <cstdlib>
namespace shop {
namespace {
template <class F> int each(int n, F f) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
struct Hidden { int operator()(int x) const { return x * std::rand(); } };
}
struct Cart { int total(int k); };
int Cart::total(int k) { return each(k, [k](int x) { return x * k + std::rand(); }) + each(k, Hidden()); }
}
int main(int argc, char **) { auto call = [argc](int q) { return shop::Cart().total(q) + std::rand(); }; return call(argc); }
C
"${CXX:-g++}" -std=c++17 -O2 -g -fno-ipa-icf scoped.cpp -o scoped 2>why
"$compare" addresses scoped 2000 >addresses.scoped
./lines scoped <addresses.scoped >names 2>why
check 'a lambda is named with what is around it' grep -qE '^main::\{lambda(\(int\)#1)?\}::operator\(\)$' names
check 'a function object likewise' grep -qE '^shop::\(anonymous namespace\)::(Hidden::operator\(\)|each<shop::)' names
check 'no name is plain' test "$(grep -cE '^(operator\(\)|each<.*)$' names)" -eq 0

sed -n 1,300p addresses >few && mv few addresses
check 'damage is survived and noted' ./lines -m 300 inlined <addresses
sed 's/^/# /' "$out"
finish
