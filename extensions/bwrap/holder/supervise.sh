#!/bin/sh
# Holds one sandbox, on the host, outside it: bwrap's parent (--die-with-parent) and the judge of its lease.
# Its end, wanted or not, ends everything inside. No signal is ever sent by number.
# supervise CONTROL IDENTITY COMMAND...: CONTROL/deadline is in seconds of /proc/uptime (suspend counts, changes
# of the clock do not) and may be replaced at any time (then SIGUSR1); IDENTITY is the file that tells who we are.
# Descriptors: 3 bwrap's report, 4 ready, 5 the lock of the sandbox, 6 the filter.
control=$1 identity=$2
shift 2
# Without a sleep there would be no pause between two looks.
command -v sleep >/dev/null || { echo "supervise: sleep is not on PATH" >&2; exit 1; }
read -r boot </proc/sys/kernel/random/boot_id && read -r stat </proc/$$/stat && echo "$boot $stat" >"$identity" || exit 1
exec 5>&-
trap : USR1 CHLD
"$@" &
held=$!
exec 3>&- 4>&- 6<&-
while kill -0 "$held" 2>/dev/null; do
	deadline=
	read -r deadline <"$control/deadline"
	case $deadline in '' | *[!0-9]*) break ;; esac
	read -r uptime _ </proc/uptime
	left=$((deadline - ${uptime%%.*}))
	[ "$left" -gt 0 ] || break
	[ "$left" -lt 5 ] || left=5
	sleep "$left" &
	wait $!
done
kill -KILL 0
