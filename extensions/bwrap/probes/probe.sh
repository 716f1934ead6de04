# Runs inside the sandbox, entered as every command is, and prints what it sees, a fact a line. It judges nothing.
# Arguments: the places that should not take a write.
# Fails, and so ends the probe, where /dev/null is none: what cannot be tried must not look refused.
exec 2>/dev/null
while read -r line; do echo "status $line"; done </proc/self/status
while read -r line; do echo "limits $line"; done </proc/self/limits
while read -r line; do echo "mount $line"; done </proc/self/mountinfo
while read -r line; do echo "cgroup $line"; done </proc/self/cgroup
while read -r line; do echo "net $line"; done </proc/net/dev
read -r line </proc/self/stat && echo "stat $line"
for file in /home/* /root /proc/[0-9]*; do [ -e "$file" ] && echo "there $file"; done
for link in $(readlink /proc/self/ns/*); do echo "namespace $link"; done
grep -qzxe --die-with-parent /proc/1/cmdline && echo "first --die-with-parent"
# Listing the folder opens one more, which is closed by now.
for file in /proc/$$/fd/*; do [ -e "$file" ] && echo "descriptor ${file##*/}"; done
for place in "$@"; do true >>"$place" && echo "writable $place"; done
for file in /proc/sys/kernel/* /proc/sys/kernel/*/* /proc/sys/vm/* /proc/sys/fs/* /proc/sys/fs/*/*; do
	[ -f "$file" ] && true >>"$file" && echo "writable $file"
done
[ -w /workspace ] && echo "writable /workspace"
if unshare -U true; then echo "userns made"; else echo "userns refused"; fi
export -p | while read -r _ line; do echo "env ${line%%=*}"; done
echo end
