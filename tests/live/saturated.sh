#!/bin/bash
# A storm starts at the first moment, while other programs take every CPU: mtrec loses no record, and the
# threads that empty the rings take no page fault, which would make them wait for a thread that gets no CPU.
# timeout: 180
# slow: busy loops on every CPU, for a while
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
build_steps
cd "$TMPDIR" || exit 1
mkfifo hold

# faults_of_drains PID: prints the faults of each thread of PID that is real-time and bound to one CPU.
faults_of_drains() {
	local task
	for task in /proc/"$1"/task/*; do
		# after the name, state is the first field, minflt the eighth, the policy the thirty-ninth
		[ "$(awk '/^Cpus_allowed_list:/ { print $2 ~ /^[0-9]+$/ }' "$task/status")" = 1 ] &&
			sed 's/.*) //' "$task/stat" | awk '$39 == 1 { print $8 }'
	done | sort -n
}

busy=()
for ((i = 0; i < 2 * $(nproc); i++)); do
	bash -c 'while :; do :; done' &
	busy+=($!)
done
# stolen: prints the time that the hypervisor gave to other machines. A storm with losses and stolen time does not count.
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}
lost=0 runs=0
for ((i = 0; i < 24 && runs < 8; i++)); do
	stolen_before=$(stolen)
	"$mtrec" -e brk,mmap,munmap,page-faults -o f.mtr --embed none -- "$steps" threads 4 3000 >/dev/null 2>said || break
	if ! grep -q ' 0 lost -> ' said; then
		sed "s/^/# $(($(stolen) - stolen_before)) ticks stolen: /" said
		[ "$(stolen)" = "$stolen_before" ] || continue
		lost=$((lost + 1))
	fi
	runs=$((runs + 1))
done
is 'storms of four threads together with busy loops' "$runs" 8
is '... none of which lost anything' "$lost" 0
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null

if [ "$(nproc)" -gt 1 ]; then
	# more than the rings hold, so that records wrap around the ends of the rings
	"$mtrec" -q -e brk,mmap,munmap,page-faults -o f.mtr -- bash -c \
		"touch ready; read -r; '$steps' threads 4 4000 >/dev/null; touch reached; read -r" <hold >said 2>&1 &
	pid=$!
	exec 9>hold
	until_true test -e ready
	faults_of_drains "$pid" >before
	echo >&9
	until_true test -e reached
	faults_of_drains "$pid" >after
	exec 9>&-
	wait "$pid"
	is 'a recording, and what its drains took meanwhile' $? 1
	is '... each of them' "$(wc -l <after)" "$(nproc)"
	is '... of page faults: none' "$(paste -sd' ' after)" "$(paste -sd' ' before)"
else
	skip 'what drains take of page faults' 'with one CPU, any thread looks pinned'
fi
finish
