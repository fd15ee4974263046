#!/bin/bash
# tests/run: every failure of a test is reported, and counts.
. "$(dirname "$0")/../lib.sh"
tree=$TMPDIR/tree
mkdir -p "$tree/tests"
cp "$MT_TOP/tests/run" "$tree/tests/run"

# runs STATUS DESCRIPTION COUNTS [OPTION...]: runs one cli test, whose script is read from standard input, with a runner of its own.
runs() {
	local status=$1 description=$2 counts=$3
	shift 3
	rm -rf "$tree/tests/cli" && mkdir "$tree/tests/cli"
	cat >"$tree/tests/cli/one.sh"
	chmod +x "$tree/tests/cli/one.sh"
	expect "$status" "$description" "$tree/tests/run" "$@" cli
	cp "$out" "$TMPDIR/said"
	check "... $counts" test "$(tail -n 1 "$TMPDIR/said")" = "$counts"
}

runs 0 'a test that passes' '2 passed, 0 failed, 0 skipped' <<'END'
#!/bin/bash
printf '1..2\nok 1 - a\nok 2\n'
END
runs 1 'a test that fails' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
printf 'ok 1 - a\n# because\nnot ok 2 - b\n1..2\n'
END
says '... its output is shown' '# because' "$TMPDIR/said"
says '... its name is shown again at the end' '^FAILED: cli/one: b$' "$TMPDIR/said"
runs 0 'a skip' '1 passed, 0 failed, 1 skipped' <<'END'
#!/bin/bash
printf '1..2\nok 1 - a\nok 2 - b # SKIP no perf\n'
END
says '... is reported with its reason' '^  cli/one: b: no perf$' "$TMPDIR/said"
runs 0 'a file that is skipped' '0 passed, 0 failed, 1 skipped' <<'END'
#!/bin/bash
echo '1..0 # SKIP not here'
END
says '... is reported with its reason' '^  cli/one: not here$' "$TMPDIR/said"
runs 1 'a crash' '1 passed, 2 failed, 0 skipped' <<'END'
#!/bin/bash
printf '1..2\nok 1\n'
kill -SEGV $$
END
says '... is named' 'ended by SIGSEGV' "$TMPDIR/said"
runs 1 'a crash after the last line' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
printf '1..1\nok 1\n'
kill -SEGV $$
END
runs 1 'no plan' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
echo 'ok 1'
END
says '... is named' 'printed no plan' "$TMPDIR/said"
runs 1 'fewer tests than planned' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
printf '1..3\nok 1\n'
END
says '... is named' 'planned 3 tests and ran 1' "$TMPDIR/said"
runs 1 'an exit status without a failed test' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
printf '1..1\nok 1\n'
exit 3
END
runs 1 'a test that does not end' '1 passed, 1 failed, 0 skipped' -t 1 <<'END'
#!/bin/bash
printf '1..1\nok 1\n'
sleep 100
END
says '... is ended by the runner' 'not done after 1 s' "$TMPDIR/said"
runs 0 'a file may ask for more time' '1 passed, 0 failed, 0 skipped' -t 1 <<'END'
#!/bin/bash
# timeout: 20
sleep 1.3
printf '1..1\nok 1\n'
END
runs 1 'a process that stays' '1 passed, 1 failed, 0 skipped' <<'END'
#!/bin/bash
setsid sleep 97 &
until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done # tests/run knows processes by their environment, which is absent during exec
printf '1..1\nok 1\n'
END
says '... is named' 'left a process behind: [0-9]+ \(sleep\)' "$TMPDIR/said"
stayed=$(sed -n 's/.*left a process behind: \([0-9]*\) .*/\1/p' "$TMPDIR/said")
check '... and ended' test ! -e "/proc/$stayed/exe"
runs 0 'each test has a directory of its own' '1 passed, 0 failed, 0 skipped' <<'END'
#!/bin/bash
echo x >"$TMPDIR/file" && printf '1..1\nok 1 - %s\n' "$TMPDIR"
END
expect 2 'an unknown group' "$tree/tests/run" nosuch
says '... is answered with the known groups' 'no such test or group: nosuch .*unit, cli, golden' "$err"
expect 2 'a group without a test' "$tree/tests/run" golden
says '... is not a success' 'the group golden has no test' "$err"
mkdir "$tree/tests/live"
printf '#!/bin/bash\nprintf "1..1\\nok 1\\n"\n' >"$tree/tests/live/fast.sh"
chmod +x "$tree/tests/live/fast.sh"
runs 0 'a slow file is left out of a fast run' '1 passed, 0 failed, 0 skipped' --fast live/fast <<'END'
#!/bin/bash
# slow: it is
printf '1..1\nnot ok 1\n'
END
says '... which names the slowest of the others' '^ +[0-9.]+ s  live/fast$' "$TMPDIR/said"
cat >"$tree/tests/live/fast.sh" <<'END'
#!/bin/bash
# together: it meets the other file
touch "$MT_TOP/live"
for ((i = 0; i < 200; i++)); do [ -e "$MT_TOP/other" ] && break; sleep 0.05; done
[ -e "$MT_TOP/other" ] && printf '1..1\nok 1\n'
END
runs 0 'a live file marked so runs together with others' '2 passed, 0 failed, 0 skipped' -j 2 live/fast <<'END'
#!/bin/bash
for ((i = 0; i < 200; i++)); do [ -e "$MT_TOP/live" ] && break; sleep 0.05; done
[ -e "$MT_TOP/live" ] && touch "$MT_TOP/other" && printf '1..1\nok 1\n'
END
cat >"$tree/tests/live/fast.sh" <<'END'
#!/bin/bash
[ -e "$MT_TOP/ended" ] && printf '1..1\nok 1\n'
END
runs 0 'a live file that is not marked runs after them' '2 passed, 0 failed, 0 skipped' -j 2 live/fast <<'END'
#!/bin/bash
sleep 0.5
touch "$MT_TOP/ended" && printf '1..1\nok 1\n'
END
rm -r "$tree/tests/live"
chmod -x "$tree/tests/cli/one.sh"
expect 1 'a script that is not executable is a failure' "$tree/tests/run" cli

mkdir -p "$tree/tests/unit"
echo '/* no program */' >"$tree/tests/unit/test_x.c"
expect 1 'a unit test that is not built is a failure' "$tree/tests/run" unit
says '... and the runner says what builds it' 'make unit-tests' "$out"
finish
