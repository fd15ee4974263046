# Folds `perf script` output as stackcollapse-perf.pl does by default: comm first, root to leaf, unresolved frames
# as [dso], counts of equal stacks last. What is in brackets already ([vdso]) gets no second pair, unlike there.
# awk -f tests/collapse_perf.awk FILE | LC_ALL=C sort

function finish(    line, i) {
	if (comm == "")
		return
	line = comm
	for (i = depth; i > 0; i--)
		line = line ";" frames[i]
	counts[line]++
	comm = ""
	depth = 0
}

/^#/ { next }
/^[ \t]*$/ { finish(); next }

# A sample begins: "comm tid [cpu] time: period event:"; the comm may have blanks.
/^[^ \t]/ {
	finish()
	match($0, / +[0-9]+(\/[0-9]+)? +(\[[0-9]+\] +)?[0-9]+\.[0-9]+:/)
	comm = substr($0, 1, RSTART - 1)
	gsub(/ /, "_", comm)
	next
}

# A frame: "address symbol+0xoffset (dso)"; both the symbol and the dso may have blanks.
{
	sub(/^[ \t]*[0-9a-f]+ /, "")
	open = 0
	for (i = length($0); i > 1 && !open; i--) {
		if (substr($0, i - 1, 2) == " (")
			open = i
	}
	dso = substr($0, open + 1, length($0) - open - 1)
	name = substr($0, 1, open - 2)
	sub(/\+0x[0-9a-f]+$/, "", name)
	if (name == "[unknown]" && dso != "[unknown]") {
		sub(/.*\//, "", dso)
		name = dso ~ /^\[/ ? dso : "[" dso "]"
	}
	gsub(/;/, ":", name)
	frames[++depth] = name
}

END {
	finish()
	for (line in counts)
		print line, counts[line]
}
