#!/bin/bash
# Debug files that this machine lacks come from a debuginfod server, only where the user asks for it. The test runs a stub server.
# timeout: 120
. "$(dirname "$0")/../lib.sh"
for command in "${CC:-cc}" objcopy strip readelf python3; do
	needs_command "${command%% *}"
done
[ "$(uname -m)" = x86_64 ] || skip_all 'made for x86-64'
cd "$TMPDIR" || exit 1
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT
export DEBUGINFOD_CACHE_PATH=$TMPDIR/cache HOME=$TMPDIR
report=$MT_BUILD/mtreport
python3 "$MT_TOP/tests/workloads/made_program.py" "$TMPDIR" >why 2>&1 || {
	fail 'the program is built' why
	finish
}
id=$(readelf -nW libprogram.so | sed -n 's/.*Build ID: //p')
mkdir -p served/buildid/$id
objcopy --only-keep-debug libprogram.so served/buildid/$id/debuginfo
strip libprogram.so
stripped='^worker;\[libprogram.so\];\[libprogram.so\] 20$'

check 'without names' "$report" --folded program.mtr
says 'no server is asked without --debuginfod' "$stripped" "$out"
says 'a line reports which image lacks names, and what --debuginfod would ask for' \
	'functions without names: in libprogram.so \(no .symtab\); --debuginfod would ask for 1 of them; --info' "$err"
check '--info' "$report" --info program.mtr
says '--info reports what --debuginfod would ask for' 'debuginfod would ask for its debug file' "$out"
check '--info --quiet' "$report" -q --folded program.mtr
check '-q: nothing is said' test ! -s "$err"
expect 2 'no server named is a usage error' "$report" --debuginfod --folded program.mtr
says 'it says how one is named' 'DEBUGINFOD_URLS'

# LD_LIBRARY_PATH names an empty file in place of the library, so that loading the library fails as if it were absent.
mkdir absent && : >absent/libdebuginfod.so.1
LD_LIBRARY_PATH=$TMPDIR/absent expect 2 'without libdebuginfod: a usage error' "$report" --debuginfod=http://127.0.0.1:9 program.mtr
says 'it says what is missing' 'libdebuginfod.so.1'
says 'and which package has it' 'libdebuginfod1'

python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null || {
	skip 'fetching' 'libdebuginfod is not installed'
	finish
}
cat >server.py <<'END'
import http.server, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        with open("asked", "a") as f:
            f.write(self.path + "\n")
        if sys.argv[1] == "slow":
            time.sleep(60)
        super().do_GET()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory="served"))
server.daemon_threads = True
with open("port." + sys.argv[1], "w") as f:
    f.write(str(server.server_port))
server.serve_forever()
END
servers=()
# shellcheck disable=SC2154
trap 'kill "${servers[@]}" 2>/dev/null' EXIT
for kind in quick slow; do
	python3 server.py $kind &
	servers+=($!)
	until_true test -s port.$kind || exit 1
done
url=http://127.0.0.1:$(cat port.quick)

check 'names from the server' "$report" --debuginfod="$url" --folded program.mtr
says 'static functions, and what was inlined' '^worker;caller;grow;fill 20$' "$out"
says 'a line reports which file is fetched' 'asking debuginfod for the debug file of .*/libprogram.so'
check 'it is kept' env DEBUGINFOD_URLS=http://127.0.0.1:9 "$report" --debuginfod --folded program.mtr
says 'the next report needs no server' '^worker;caller;grow;fill 20$' "$out"
is 'it was asked once' "$(wc -l <asked)" 1
rm -r cache && check 'the servers of the environment' env DEBUGINFOD_URLS="$url" "$report" --debuginfod --folded program.mtr
says 'serve as well' '^worker;caller;grow;fill 20$' "$out"

odd=$TMPDIR/odd$'\e'name
mkdir "$odd" && python3 "$MT_TOP/tests/workloads/made_program.py" "$odd" >why 2>&1 && strip "$odd/libprogram.so"
check 'a folder of an odd name' env DEBUGINFOD_CACHE_PATH="$TMPDIR/none" "$report" --debuginfod=http://127.0.0.1:9 --folded "$odd/program.mtr"
says 'is printed without control characters' 'asking debuginfod for the debug file of .*/odd\?name/libprogram.so'

mv libprogram.so served/buildid/$id/executable
rm -r cache
check 'a file that is gone' "$report" --debuginfod="$url" --no-inline --folded program.mtr
says 'comes from there, with its unwind tables' '^worker;caller;grow 20$' "$out"
cp served/buildid/$id/executable libprogram.so

rm -r cache && cp "$(readlink -f "$report")" served/buildid/$id/debuginfo
check 'a file of another build id' "$report" --debuginfod="$url" --folded program.mtr
says 'is not used' "$stripped" "$out"
says 'and a line says so' 'libprogram.so: a debug file is not used: .*build id differs'

rm -r cache served/buildid/$id/debuginfo && : >asked
for ((i = 0; i < 2; i++)); do
	check 'what the server does not have' "$report" --debuginfod="$url" --folded program.mtr
	says 'has no name' "$stripped" "$out"
done
is 'is not asked for again' "$(wc -l <asked)" 1

rm -r cache
check 'no server there' "$report" --debuginfod=http://127.0.0.1:1 --folded program.mtr
says 'a line says so' 'debuginfod: .*; nothing more is asked for'
rm -rf cache
SECONDS=0
DEBUGINFOD_TIMEOUT=2 expect 0 'a server that does not answer' "$report" --debuginfod="http://127.0.0.1:$(cat port.slow)" --folded program.mtr
between 'is waited for as long as DEBUGINFOD_TIMEOUT says' 1 "$SECONDS" 30
says 'which a line says' 'debuginfod: .*; nothing more is asked for'
finish
