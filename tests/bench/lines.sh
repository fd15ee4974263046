#!/bin/bash
# Compares lines and inlined functions of symbols/lines/lines and GNU addr2line: the same addresses, one process each.
#
#	tests/bench/lines.sh [FILE...]	files with debug information; without files: the files of python3, and a C++ program built here. MT_COUNT addresses
#					(2000), MT_ROUNDS rounds (9)
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
build_tool lines tests/oracle/lines.c || {
	cat "$TMPDIR/why" >&2
	exit 1
}

# has_lines FILE
has_lines() {
	readelf -SW "$1" 2>/dev/null | grep -q '\.debug_line '
}

files=("$@")
if [ $# -eq 0 ]; then
	python=$(python3 -c 'import os, sysconfig
v = sysconfig.get_config_vars()
print(os.path.join(v["LIBDIR"], v["INSTSONAME"]))' 2>/dev/null)
	for file in "$python" "$(readlink -f "$(command -v python3)")"; do
		has_lines "$file" && files+=("$file") && break
	done
	cp "$MT_TOP/tests/workloads/inlined.cpp" "$TMPDIR/"
	for ((i = 0; i < 6; i++)); do
		sed "s/namespace shop/namespace shop$i/; s/shop::/shop$i::/g; s/int main/int main$i/" "$TMPDIR/inlined.cpp" >"$TMPDIR/part$i.cpp"
		printf '#include <%s>\n' regex iostream sstream functional unordered_map future memory >>"$TMPDIR/part$i.cpp"
		echo "bool match$i(const char *t) { std::regex r(t); std::ostringstream o; o << t; return std::regex_match(o.str(), r); }" \
			>>"$TMPDIR/part$i.cpp"
	done
	echo 'int main() { return 0; }' >"$TMPDIR/main.cpp"
	"${CXX:-g++}" -std=c++17 -O2 -g -pthread -o "$TMPDIR/parts" "$TMPDIR"/part?.cpp "$TMPDIR/main.cpp" && files+=("$TMPDIR/parts")
fi
for file in "${files[@]}"; do
	"$MT_TOP/tests/bench/lines.py" "$TMPDIR/lines" "$file" ${MT_COUNT:-2000} ${MT_ROUNDS:-9}
done
