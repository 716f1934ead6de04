# The last step before a command: waits until whoever entered has answered, then becomes it.
# All that ends a command with its caller is in force here, and not before: a caller that was killed earlier
# does not answer, and nothing runs. Descriptor 5 leads to the caller; the arguments are the command.
# All names are local: the variables of the command are in force too, and it shall get them as they are.
look() {
	local answer program folder name value mine first='' IFS
	# bwrap's first process here starts the command before it has asked to end with bwrap; after that it filters itself,
	# as this one is filtered already.
	mine=
	while read -r name value; do
		case $name in Seccomp*) mine=$mine$value, ;; esac
	done </proc/self/status
	until [ "$first" = "$mine" ]; do
		first=
		while read -r name value; do
			case $name in Seccomp*) first=$first$value, ;; esac
		done </proc/1/status
	done
	echo here >&5
	# shellcheck disable=SC2034 # what it says does not matter
	read -r answer <&5 || exit 1
	case $1 in
	*/*) program=$1 ;;
	*)
		IFS=:
		for folder in $PATH; do
			program=${folder:-.}/$1
			[ ! -f "$program" ] || [ ! -x "$program" ] || break
		done
		;;
	esac
	if [ ! -e "$program" ]; then
		echo missing >&5
		exit 127
	elif [ ! -f "$program" ] || [ ! -x "$program" ]; then
		echo forbidden >&5
		exit 126
	fi
	echo started >&5
}
set -f
look "$1"
exec 5>&-
exec "$@"
