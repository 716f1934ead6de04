# Runs inside the sandbox, entered as every command is, and prints what it sees, a fact a line. It judges nothing.
# Arguments: the places that should not take a write.
# Fails, and so ends the probe, where /dev/null is none: what cannot be tried must not look refused.
exec 2>/dev/null
# A program that is killed, as where the memory is used up, has seen nothing: the probe ends as it did.
seen_by() {
	"$@"
	code=$?
	[ "$code" -le 128 ] || kill -KILL $$
	return "$code"
}
# Programs run beside the shell's own looks, which are told when these have ended: lines must not mix.
{
	seen_by grep -a '' /proc/self/status /proc/self/limits /proc/self/mountinfo /proc/self/cgroup /proc/self/stat \
		/proc/net/dev /proc/$$/environ /proc/1/cmdline
	seen_by readlink /proc/self/ns/*
} &
unshare -U true &
making=$!
seen=
see() {
	seen="$seen$1
"
}
for file in /home/* /root /proc/[0-9]*; do [ -e "$file" ] && see "there $file"; done
# Listing the folder opens one more, which is closed by now.
for file in /proc/$$/fd/*; do [ -e "$file" ] && see "descriptor ${file##*/}"; done
for file in "$@" /proc/sys/kernel/* /proc/sys/kernel/*/* /proc/sys/vm/* /proc/sys/fs/* /proc/sys/fs/*/*; do
	true >>"$file" && see "writable $file"
done
[ -w /workspace ] && see "writable /workspace"
seen_by wait "$making"
# Its own word for a refusal: it is 126 or 127 where the program could not be run.
[ $? = 1 ] && see "userns refused"
wait
printf '%send\n' "$seen"
