# The last step before a command: reads id and generation of the sandbox again, waits until whoever entered has answered,
# then becomes it.
# All that ends a command with its caller is in force here, and not before: a caller that was killed earlier
# does not answer, and nothing runs. Descriptor 5 leads to the caller; $0 is "ID GENERATION", the arguments are the command.
# All names are local: the variables of the command are in force too, and it shall get them as they are.
look() {
	local id generation answer program folder IFS
	# A process number that was handed out anew leads elsewhere.
	read -r id generation </run/sbx/id && [ "$id $generation" = "$0" ] || { echo elsewhere >&5; exit 125; }
	echo here >&5
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
