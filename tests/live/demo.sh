#!/bin/bash
# The demo names the guilty function: in mtreport's summary, and from the folded stacks.
. "$(dirname "$0")/../lib.sh"
needs_perf
needs_command c++
[ "$(id -u)" -eq 0 ] || skip_all 'recording the whole host needs root'
expect 0 'the demo runs' env MT_BUILD="$MT_BUILD" "$MT_TOP/scripts/demo" "$TMPDIR/demo"
cp "$out" "$TMPDIR/said"
says 'the summary names the guilty function' 'SessionCache::remember' "$TMPDIR/said"
says 'the last line too, with nearly all of the growth' '^guilty: SessionCache::remember: ' "$TMPDIR/said"
check 'the flame graph has it' grep -q 'SessionCache::remember' "$TMPDIR/demo/out.svg"
check 'the folded stacks are where it says' grep -q '^brk;grower;.*SessionCache::remember' "$TMPDIR/demo/out.folded"
check 'from the root' grep -Eq '^brk;grower;(_start;)?.*main;Server::handle_request;' "$TMPDIR/demo/grower.folded"
finish
