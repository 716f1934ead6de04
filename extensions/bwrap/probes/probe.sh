# Runs inside the sandbox, entered as every command is, and prints what it sees, a fact a line. It judges nothing.
# Arguments: the places that should not take a write.
while read -r line; do echo "status $line"; done </proc/self/status
while read -r line; do echo "limits $line"; done </proc/self/limits
while read -r line; do echo "mount $line"; done </proc/self/mountinfo
while read -r line; do echo "cgroup $line"; done </proc/self/cgroup
while read -r line; do echo "net $line"; done </proc/net/dev
read -r line </proc/self/stat && echo "stat $line"
for file in /home/* /root /proc/[0-9]*; do [ -e "$file" ] && echo "there $file"; done
for file in /proc/$$/fd/*; do echo "descriptor ${file##*/}"; done
for place in "$@"; do true >>"$place" && echo "writable $place"; done 2>/dev/null
for file in /proc/sys/kernel/* /proc/sys/kernel/*/* /proc/sys/vm/* /proc/sys/fs/* /proc/sys/fs/*/*; do
	[ -f "$file" ] && true >>"$file" && echo "writable $file"
done 2>/dev/null
[ -w /workspace ] && echo "writable /workspace"
if unshare -U true 2>/dev/null; then echo "userns made"; else echo "userns refused"; fi
export -p | while read -r _ line; do echo "env ${line%%=*}"; done
echo end
