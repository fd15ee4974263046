# Building the programs of this folder against the libraries in $MT_BUILD; source tests/lib.sh first.
# shellcheck shell=bash

# build_tool NAME FILE... [-lLIBRARY...]: $TMPDIR/NAME; false, with $TMPDIR/why, where it does not build.
build_tool() {
	local name=$1 sanitize oracles
	shift
	oracles=$(grep -oE -- '-ldw|-lelf|-lunwind-x86_64|-ldl' "$MT_BUILD/flags" 2>/dev/null | sort -u)
	sanitize=$(grep -o -m1 -- '-fsanitize=[^ ]*' "$MT_BUILD/flags" 2>/dev/null | head -n 1)
	# shellcheck disable=SC2086
	(cd "$MT_TOP" && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I. -O2 -g -pthread $sanitize "${tool_flags[@]}" \
		-o "$TMPDIR/$name" "$@" "$MT_BUILD/lib/libunwind_mt.a" "$MT_BUILD/lib/libsymbols.a" \
		"$MT_BUILD/lib/libformats.a" -lzstd -lz -liberty $oracles) >"$TMPDIR/why" 2>&1
}
tool_flags=()

# has_library HEADER -lLIBRARY...: whether it can be built against.
has_library() {
	local header=$1
	shift
	printf '#include <%s>\nint main(void)\n{\n\treturn 0;\n}\n' "$header" |
		${CC:-cc} -x c - -x none "$@" -o "$TMPDIR/probe" 2>/dev/null
}
