# The last step before a command: waits until whoever entered has answered, then becomes it.
# All that ends a command with its caller is in force here, and not before: a caller that was killed earlier
# does not answer, and nothing runs. Descriptor 5 leads to the caller; the arguments are the command.
echo here >&5
read -r answer <&5 || exit 1
set -f
case $1 in
*/*) program=$1 ;;
*)
	IFS=:
	for folder in $PATH; do
		program=${folder:-.}/$1
		[ ! -f "$program" ] || [ ! -x "$program" ] || break
	done
	unset IFS
	;;
esac
if [ ! -e "$program" ]; then
	echo missing >&5
	exit 127
elif [ ! -f "$program" ] || [ ! -x "$program" ]; then
	echo forbidden >&5
	exit 126
fi
unset program folder answer
echo started >&5
exec 5>&-
exec "$@"
