#!/bin/sh
# Holds one sandbox, on the host, outside it: bwrap's parent (--die-with-parent) and the only judge of its lease.
# Its end, wanted or not, ends everything inside. No signal is ever sent by number.
# supervise FOLDER CLOCK COMMAND...: CLOCK is a file as /proc/uptime (suspend counts, changes of the clock do not).
# FOLDER/control/deadline is in its seconds and may be replaced at any time (then SIGUSR1). What we write: FOLDER/supervisor,
# who we are; FOLDER/verdict, the deadline that we obey, or that it was over. Where FOLDER/idle is, FOLDER/watch is run.
# Descriptors: 3 bwrap's report, 4 ready, 5 the lock of the sandbox, 6 the filter.
folder=$1 clock=$2
shift 2
# Without a sleep there would be no pause between two looks.
command -v sleep >/dev/null || { echo "supervise: sleep is not on PATH" >&2; exit 1; }
read -r boot </proc/sys/kernel/random/boot_id && read -r stat </proc/$$/stat && echo "$boot $stat" >"$folder/supervisor" || exit 1
exec 5>&-
trap : USR1 CHLD
"$@" &
held=$! obeyed='' watch=''
exec 3>&- 4>&- 6<&-
while kill -0 "$held" 2>/dev/null; do
	# The clock before the deadline: one that is put while the earlier one is ahead is then read in time.
	read -r uptime _ <"$clock"
	deadline=
	read -r deadline <"$folder/control/deadline"
	case $deadline in '' | *[!0-9]*) break ;; esac
	left=$((deadline - ${uptime%%.*}))
	[ "$left" -gt 0 ] || { echo "over $deadline" >"$folder/verdict"; break; }
	[ "$deadline" = "$obeyed" ] || { echo "obeys $deadline" >"$folder/verdict" && obeyed=$deadline; }
	# shellcheck source=/dev/null # written beside the record
	[ -n "$watch" ] || [ ! -e "$folder/idle" ] || { (. "$folder/watch") & watch=$!; }
	[ -z "$watch" ] || kill -0 "$watch" 2>/dev/null || break
	[ "$left" -lt 5 ] || left=5
	sleep "$left" &
	wait $!
done
kill -KILL 0
