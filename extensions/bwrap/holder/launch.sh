# sh -s supervise FLOCK SECONDS: what a supervisor does before it has anything to hold, in the place of flock(1). It
# takes the lock of the sandbox on descriptor 5, says so, and goes on with what it is told next. Whoever started it and ends
# ends this too, with nothing done. The exit code is that of flock.
"$2" --exclusive --wait "$3" 5 </dev/null || exit
echo locked >&4
