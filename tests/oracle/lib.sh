# Building the programs of this folder against the libraries in $MT_BUILD; source tests/lib.sh first.
# shellcheck shell=bash

# build_tool NAME FILE...: $TMPDIR/NAME; false, with $TMPDIR/why, where it does not build.
build_tool() {
	local name=$1 compiler=${CC:-cc} sanitize libraries libunwind
	shift
	libraries=$(grep -oE -- ' -l[^ ]+' "$MT_BUILD/flags")
	sanitize=$(grep -o -m1 -- '-fsanitize=[^ ]*' "$MT_BUILD/flags" 2>/dev/null | head -n 1)
	libunwind=$(grep -o -m1 -- -DHAVE_LIBUNWIND "$MT_BUILD/flags" | head -n 1)
	[ -z "$sanitize" ] || compiler=$(cut -d ' ' -f 1 "$MT_BUILD/flags") # the sanitizers of the libraries
	# shellcheck disable=SC2086
	(cd "$MT_TOP" && $compiler -std=gnu11 -D_GNU_SOURCE -I. -O2 -g -pthread $sanitize $libunwind "${tool_flags[@]}" \
		-o "$TMPDIR/$name" "$@" "$MT_BUILD/lib/libunwind_mt.a" "$MT_BUILD/lib/libsymbols.a" \
		"$MT_BUILD/lib/libformats.a" $libraries) >"$TMPDIR/why" 2>&1
}
tool_flags=()
