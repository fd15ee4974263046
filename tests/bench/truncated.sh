#!/bin/bash
# Counts the stacks of a compiler that are the same with dumps of 16 KiB as with dumps of 64 KiB, and the joined stacks that are right.
#
#	tests/bench/truncated.sh [COMMAND...]	without a command: compiles a file, clang++ -O2
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
. "$(dirname "$0")/../oracle/truncated.sh"
build_tool cut_dumps tests/oracle/cut_dumps.c || {
	cat "$TMPDIR/why" >&2
	exit 1
}
if [ $# -eq 0 ]; then
	find_compiler
	{
		printf '#include %s\n' '<algorithm>' '<functional>' '<iostream>' '<map>' '<regex>' '<string>' '<unordered_map>' '<vector>'
		echo 'int main(int argc, char **argv) { std::regex word("([a-z]+)=([0-9]*)"); std::unordered_map<std::string, int> counts;'
		echo 'std::smatch m; for (int i = 1; i < argc; i++) { std::string s(argv[i]); if (std::regex_match(s, m, word))'
		echo 'counts[m[1]] += std::stoi(m[2]); } std::vector<std::pair<std::string, int>> v(counts.begin(), counts.end());'
		echo 'std::stable_sort(v.begin(), v.end()); for (auto &[name, n] : v) std::cout << name << n; }'
	} >"$TMPDIR/a.cpp"
	set -- "$compiler" -std=c++17 -O2 -c -o /dev/null "$TMPDIR/a.cpp"
fi
record_whole "$@" || exit 1
for larger in 65528 ''; do
	# shellcheck disable=SC2086
	truncate_stacks $larger || exit 1
	echo "truncated: $([ -n "$larger" ] && echo with || echo without) seeds: $(figures | paste -sd ';' | sed 's/;/; /g')"
done
