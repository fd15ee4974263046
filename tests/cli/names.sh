#!/bin/bash
# Names of addresses: the test makes libraries with one function every 256 bytes; each case has its expected name.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
for command in "${CC:-cc}" readelf objcopy strip; do
	needs_command "${command%% *}"
done
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all 'made for x86-64 and aarch64' ;;
esac
build_tool names tests/oracle/names.c || {
	fail 'the tool builds' "$TMPDIR/why"
	finish
}
cd "$TMPDIR" || exit 1

# symbol BINDING NAME SIZE [TYPE]: adds a symbol at the current place.
symbol() {
	case $1 in
	global | weak) printf '.%s "%s"\n' "${1/global/globl}" "$2" ;;
	esac
	printf '.type "%s", %%%s\n.set "%s", here%d\n.size "%s", %d\n' "$2" "${4:-function}" "$2" "$at" "$2" "$3"
}

# place NAME STRIPPED [SYMBOL...]: adds 256 bytes. NAME and STRIPPED are the expected names of the address 16 bytes into them, with
# .symtab and without. SYMBOL is BINDING,NAME,SIZE[,TYPE].
at=0
: >code.s
: >wanted
: >wanted_stripped
place() {
	local name=$1 stripped=$2 each
	shift 2
	printf '.org %d\n.Lhere%d:\n.set here%d, .\n' $((at * 256)) "$at" "$at" >>code.s
	for each in "$@"; do
		symbol ${each//,/ } >>code.s
	done
	echo "$name" >>wanted
	echo "$stripped" >>wanted_stripped
	at=$((at + 1))
}

lib='[lib.so]'
place raise raise global,raise,64 weak,gsignal,64
place raised raised weak,asignal,64 global,raised,64 local,__GI_raised,64
place weak_name weak_name weak,weak_name,64 local,local_name,64
place sized sized global,bare,0 weak,sized,64
place static_function "$lib" local,static_function,64
place "$lib" "$lib" global,short_one,8
place chosen chosen global,chosen,64,gnu_indirect_function local,resolver,64
place work.cold "$lib" local,work.cold,64
place work.part.0 "$lib" local,work.part.0,64
place work.constprop.1 "$lib" local,work.constprop.1,64
place work.isra.0.cold "$lib" local,work.isra.0.cold,64
place shop::Cart::add "$lib" local,_ZN4shop4Cart3addEi.part.0,64
place shop::Cart::sum "$lib" local,_ZN4shop4Cart3sumEv.cold,64
place 'shop::total<3>' 'shop::total<3>' weak,_ZN4shop5totalILi3EEEii,64
place 'shop::main(int)::{lambda(int)#1}::operator()' "$lib" local,_ZZN4shop4mainEiENKUliE_clEi,64
place shop::Cart::Cart shop::Cart::Cart weak,_ZN4shop4CartC1Ev,64 weak,_ZN4shop4CartC2Ev,64
place core::fmt::Formatter::pad core::fmt::Formatter::pad global,_ZN4core3fmt9Formatter3pad17h0123456789abcdefE,64
place alloc::grow "$lib" local,_ZN5alloc4grow17h0123456789abcdefE.llvm.1234567,64
place mycrate::grow mycrate::grow global,_RNvCs1234_7mycrate4grow,64
place '<mycrate::Bag>::put' "$lib" local,_RNvMCs1234_7mycrateNtB2_3Bag3put,64
place versioned versioned global,versioned_2,64
place old_name old_name global,versioned_1,64
# shellcheck disable=SC2016
{
	printf '.globl alone\n.type alone, %%function\n.org %d\nalone: .skip 200, 0\n.size alone, 200\n' $((at * 256))
	printf '.symver versioned_2, versioned@@NEW, remove\n.symver versioned_1, old_name@OLD, remove\n'
	printf '.section .note.GNU-stack,"",%%progbits\n'
} >>code.s
sed -i -E 's/^\.set "(.*)", here/.set "\1", .Lhere/; /^\.set here/d' code.s
echo 'OLD { }; NEW { } OLD;' >versions
# shellcheck disable=SC2086
${CC:-cc} -shared -nostdlib -Wl,--version-script=versions -o lib.so code.s 2>why || {
	fail 'the library builds' why
	finish
}
text=$(readelf -SW lib.so | awk '/ \.text / { for (i = 1; i < NF; i++) if ($i == "PROGBITS") print $(i + 1) }')
for ((i = 0; i < at; i++)); do
	printf '%x\n' $((0x$text + i * 256 + 16))
done >addresses

# named DESCRIPTION WANTED FILE
named() {
	./names "$3" <addresses >got 2>err || cat err
	diff "$2" got >difference
	check "$1" test ! -s difference
	sed 's/^/# /' difference
}
named 'global before weak before local; clones, C++, Rust, versions' wanted lib.so
cp lib.so whole.so
strip lib.so
named 'the same without .symtab: what is exported' wanted_stripped lib.so
objcopy --only-keep-debug whole.so whole.debug
objcopy --add-gnu-debuglink=whole.debug lib.so
named 'the same with a debug file' wanted lib.so
finish
