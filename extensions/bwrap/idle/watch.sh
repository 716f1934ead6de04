#!/bin/sh
# Ends a sandbox in which nothing has happened for as long as FOLDER/idle says: no command was begun, less than a hundredth
# of a cpu was used, no TCP connection was opened or is open. Run by supervise.sh, in its process group, with its
# $folder and $clock. What cannot be measured is no activity. FOLDER/idle: SECONDS SOCKETS UID, see measure.sh.
# shellcheck disable=SC2034,SC2154 # set by whoever reads this, and for what is read here

init='' since='' before='' used='' opened='' begun=''
while :; do
	read -r now _ <"$clock" || exit
	now=${now%%.*}
	limit='' sockets='' uid='' mark=''
	read -r limit sockets uid 2>/dev/null <"$folder/idle"
	read -r mark 2>/dev/null <"$folder/activity"
	# Not there before the sandbox is ready.
	if [ -z "$init" ] && read -r record <"$folder/record.json"; then
		case $record in *'"init":{'*) record=${record#*'"init":{'} init=${record#*'"pid":'} init=${init%%[!0-9]*} ;; esac
	fi 2>/dev/null
	# In a shell of its own, bounded: whatever befalls it there, it has measured nothing.
	# shellcheck source=/dev/null disable=SC3045 # written beside the record; a bound that the shell lacks is done without
	measured=$(ulimit -t 2; ulimit -v 262144; . "$folder/measure")
	# shellcheck disable=SC2086 # to be split
	set -- $measured
	if [ -z "$used" ] || [ -z "$limit" ] || [ "$mark" != "$begun" ] || [ "${3:-0}" -gt 0 ] || [ "${2:-$opened}" != "$opened" ] ||
		[ "$((${1:-0} - ${used:-0}))" -gt "$((now - before))" ]; then
		since=$now
	fi
	# How many processes there were may have changed: only what is more than before counts.
	used=${1:-$used} opened=${2:-$opened} begun=$mark before=$now
	idle=$((now - since))
	if [ -n "$limit" ] && [ "$idle" -ge "$limit" ]; then
		echo "idle $idle $now" >"$folder/verdict"
		kill -KILL 0
	fi
	# An eighth of the limit, 1 to 5 seconds.
	pause=$((${limit:-40} / 8))
	[ "$pause" -gt 0 ] || pause=1
	[ "$pause" -lt 5 ] || pause=5
	sleep "$pause"
done
