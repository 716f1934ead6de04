#!/bin/sh
# Prints what a sandbox has done so far: clock ticks of cpu of its processes and of their ended children, TCP connections
# opened, TCP connections that are open now. Prints nothing where it cannot be told. Read by watch.sh, with its variables.
# Wanted: $folder; $init, the number of the first process inside; $sockets, whose connections count: all (of its network namespace), uid or inode (see $uid).
# Nothing that a process inside can choose is taken for anything but a word: names may hold blanks, brackets, line ends.
# shellcheck disable=SC2154 # whoever reads it sets them

# The number may have been handed out anew.
ours='' there=''
read -r ours 2>/dev/null <"$folder/control/id"
read -r there 2>/dev/null <"/proc/$init/root/run/sbx/id"
[ -n "$ours" ] && [ "$ours" = "$there" ] || exit

ticks='' inside=/proc/$init/root/proc
for stat in "$inside"/[0-9]*/stat; do
	line=
	# A name may hold line ends: what counts stands in the last line, after the last bracket.
	while read -r part; do line=$part; done 2>/dev/null <"$stat"
	set -f
	# shellcheck disable=SC2086 # to be split
	set -- ${line##*)}
	set +f
	case ${12-}${13-}${14-}${15-} in '' | *[!0-9]*) continue ;; esac
	ticks=$((${ticks:-0} + ${12} + ${13} + ${14} + ${15}))
done
[ -n "$ticks" ] || exit

# Active and passive, of the second line: the first has the names.
opened=0
if [ "$sockets" = all ]; then
	while read -r kind _ _ _ _ active passive _; do
		[ "$kind" != Tcp: ] || opened="$active $passive"
	done 2>/dev/null <"/proc/$init/net/snmp"
	case $opened in *[!0-9\ ]*) exit ;; esac
	opened=$((${opened% *} + ${opened#* }))
fi

# Established (01), by owner where the namespace is shared.
open=0 inodes=' '
for table in tcp tcp6; do
	while read -r _ _ _ state _ _ _ owner _ inode _; do
		[ "$state" = 01 ] || continue
		[ "$sockets" = all ] || [ "$owner" = "$uid" ] || continue
		open=$((open + 1)) inodes="$inodes$inode "
	done 2>/dev/null <"/proc/$init/net/$table"
done
# A uid that others have too: those that a process inside holds.
if [ "$sockets" = inode ] && [ "$open" -gt 0 ]; then
	open=0
	for link in $(readlink "$inside"/[0-9]*/fd/* 2>/dev/null); do
		inode=${link#"socket:["}
		case $inodes in *" ${inode%"]"} "*) open=$((open + 1)) ;; esac
	done
fi
echo "$ticks $opened $open"
