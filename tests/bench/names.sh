#!/bin/bash
# Names of 30,000 unique addresses of a large program with .symtab, building the table included: symbols/names/symbolize, and GNU nm's
# plain listing of the same table to compare with. The bar is 1 s for 100 MB.
#
#	tests/bench/names.sh [FILE...]	without: node where it is there and has a .symtab; else the largest program in PATH that has one
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
build_tool names tests/oracle/names.c || {
	cat "$TMPDIR/why" >&2
	exit 1
}

# has_symtab FILE
has_symtab() {
	readelf -SW "$1" 2>/dev/null | grep -q ' SYMTAB '
}

largest() {
	local file
	find -L ${PATH//:/ } -maxdepth 1 -type f -size +8M -printf '%s %p\n' 2>/dev/null | sort -rn | while read -r _ file; do
		has_symtab "$file" && echo "$file" && break
	done
}

files=("$@")
if [ $# -eq 0 ]; then
	node=$(readlink -f "$(command -v node)")
	has_symtab "$node" && files=("$node") || mapfile -t files < <(largest)
fi
[ ${#files[@]} -gt 0 ] || {
	echo 'no large program with a .symtab here' >&2
	exit 1
}
for file in "${files[@]}"; do
	"$MT_TOP/tests/oracle/lines.py" addresses "$file" 60000 | sort -u | shuf -n 30000 --random-source=<(yes) >"$TMPDIR/addresses"
	echo "$file: $(($(stat -c %s "$file") >> 20)) MiB, $(readelf -sW "$file" | grep -c ' FUNC ') functions"
	for ((i = 0; i < 5; i++)); do
		"$TMPDIR/names" -t "$file" <"$TMPDIR/addresses"
	done
	echo "nm: $({ TIMEFORMAT='%U + %S s of processor time' && time nm -n "$file" >/dev/null; } 2>&1)"
done
