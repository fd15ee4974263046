#!/bin/bash
# A Go program has no malloc and free: mtrec and the first screen say what works, and do not advise -e malloc.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'defining probes'
needs_command go
cd "$TMPDIR" || exit 1

cat >program.go <<'GO'
package main

import (
	"fmt"
	"os"
)

var kept [][]byte

//go:noinline
func grow() {
	block := make([]byte, 1<<20)
	for at := range block {
		block[at] = 1
	}
	kept = append(kept, block)
}

func main() {
	for i := 0; i < 40; i++ {
		grow()
	}
	fmt.Fprintln(os.Stderr, len(kept))
}
GO
GOCACHE=$TMPDIR/cache GO111MODULE=off go build -o program program.go || skip_all 'go does not build here'

for stripped in '' ' stripped'; do
	cp program "run$stripped"
	[ -z "$stripped" ] || strip "run$stripped"
	expect 2 "-e malloc of a Go program$stripped" "$mtrec" -o no.mtr -e malloc -- "./run$stripped"
	says '... is refused as one' './run.* is a Go program: its heap is collected, and has no malloc and free'
	says '... with what works' '-e vm,rss records .*heap profile \(pprof\)'
done
check 'what works' "$mtrec" -o go.mtr -e vm,rss -- ./program
"$MT_BUILD/mtreport" go.mtr >screen 2>&1
says '... shows the path that grew' 'program: main.grow' screen
is '... and advises no -e malloc' "$(grep -c -e '-e malloc' screen)" 0
says '... but the heap profile' 'a Go program: its heap is collected' screen
finish
