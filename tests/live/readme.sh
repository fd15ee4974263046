#!/bin/bash
# Every command of the README runs, in its order, and succeeds. Substitutes replace commands that need another host or thirty
# seconds: scp and ssh stay on this machine, sleep is a program that grows, server is another one.
# timeout: 600
# slow: every command of the README, of which some record for a while
. "$(dirname "$0")/../lib.sh"
needs_perf
needs_command c++
[ "$(id -u)" -eq 0 ] || skip_all 'recording the whole host needs root'

stage=$TMPDIR/stage
bin=$TMPDIR/bin
mkdir -p "$stage" "$bin"
c++ -O2 -g -fomit-frame-pointer -std=c++17 -o "$bin/grower" "$MT_TOP/tests/workloads/grower.cpp" || exit 1
cat >"$bin/scp" <<'SH'
#!/bin/sh
test -s "${1#host:}"
SH
cat >"$bin/ssh" <<'SH'
#!/bin/sh
exec sh -c "$2"
SH
cat >"$bin/sleep" <<'SH'
#!/bin/sh
grower 2000 >&2
exec /bin/sleep 0.5
SH
cat >"$bin/pidof" <<'SH'
#!/bin/sh
echo "$SERVER_PID"
SH
cp "$bin/grower" "$stage/server"
chmod +x "$bin"/*
ln -s "$MT_BUILD/mtrec" "$MT_BUILD/mtreport" "$bin"

# A process to attach to: it answers requests, a thousand a second at most, until the test ends it.
"$stage/server" 2000000000 1000 >"$TMPDIR/server.out" &
SERVER_PID=$!
export SERVER_PID PATH="$bin:$PATH"

all=$(sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$MT_TOP/README.md")

export -f make_here
export MT_TOP MT_BUILD
# Building: in the tree, into the current build directory. For `make check-fast` the test checks only
# what make would do.
while IFS= read -r command; do
	cd "$MT_TOP" || exit 1
	case $command in
	'make check'*) command="make -n ${command#make }" ;;
	*DESTDIR=*) command="${command/DESTDIR=\/tmp\/stage/DESTDIR=$TMPDIR/installed}" ;;
	esac
	check "$command" bash -c "${command/#make/make_here}"
done < <(grep -E '^(make|scripts/)' <<<"$all")

while IFS= read -r command; do
	cd "$stage" || exit 1
	until_none_lost "$err" record_once bash -c "$command"
	is "$command" $? 0
	grep -Ev ' -> file .*, 0 lost -> |functions of .* are probed|user stacks end early|functions without names|in the place of their raw bytes|images, kernels and perf maps:|^grower:|are shown as they stood just before|has no room for what is below 0|frames narrower than .* are not drawn|blocks a second; the probes cost|blocks was sampled, by address|^mtrec: recording has ended; what is left is written|inlined functions and lines are not at hand for ' "$err" >"$TMPDIR/complaints"
	check '... and nothing was lost or wrong' diff /dev/null "$TMPDIR/complaints"
done < <(grep -Ev '^(make|scripts/)' <<<"$all")
kill "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
named=$(sed -n '/^```text$/,/^```$/p' "$MT_TOP/README.md" | grep -o '[^ ]*\.mtr' | sort -u)
check "the commands wrote what the sample names: $named" test -n "$named" -a -s "$stage/$named"
check 'the flame graph names the guilty function' grep -q 'SessionCache::remember' "$stage/out.svg"
check 'what went through the pipe is a recording' "$MT_BUILD/mtreport" -q --folded "$stage/server.mtr"
finish
