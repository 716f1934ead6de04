import { hasErrno } from "../../provider/errors";

/** Ends a process of a test by SIGKILL; it may have ended with another before its turn. */
export function kill(pid: number | undefined): void {
	// 0 would be every process of the test run.
	if (pid === undefined || pid < 2) throw new Error(`${pid} is no process of a test.`);
	try {
		process.kill(pid, "SIGKILL");
	} catch (thrown) {
		if (!hasErrno(thrown, "ESRCH")) throw thrown;
	}
}
