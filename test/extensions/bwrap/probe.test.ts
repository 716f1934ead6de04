import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseInsideFacts } from "../../../extensions/bwrap/probes/inside-facts";

const PROBE = readFileSync(join(__dirname, "../../../extensions/bwrap/probes/probe.sh"), "utf8");

describe("the probe, run on this machine", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "probe-"));
	});
	afterEach(() => rmSync(folder, { recursive: true }));

	/** Runs it with one program replaced by a script. */
	function probe(program: string, script: string) {
		writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`);
		chmodSync(join(folder, program), 0o755);
		const { stdout, signal } = spawnSync("sh", ["-c", PROBE, "probe"], {
			cwd: "/",
			// A value with a line break, and lines that look like facts.
			env: { PATH: `${folder}:${process.env["PATH"]}`, LINES: "a\nuserns refused\nend\n/proc/self/status:CapEff:\t0" },
			encoding: "utf8",
		});
		return { signal, facts: parseInsideFacts(stdout) };
	}

	it("sees this process's own facts, and names of variables only", () => {
		const { signal, facts } = probe("unused", "");
		expect({ signal, complete: facts.complete }).toEqual({ signal: null, complete: true });
		expect(facts.environment.filter((name) => name !== "_")).toEqual(["PATH", "LINES"]);
		expect(facts.status.get("CapEff")).toMatch(/^[0-9a-f]{16}$/);
		expect([...facts.namespaces.keys()]).toEqual(expect.arrayContaining(["mnt", "net", "pid", "user"]));
		expect(facts.descriptors).toEqual(expect.arrayContaining([0, 1, 2]));
		expect(facts.endsWithCaller).toBe(false);
	});

	it.each(["grep", "readlink", "unshare"])("ends as %s did where that was killed", (program) => {
		expect(probe(program, "kill -KILL $$").signal).toBe("SIGKILL");
	});

	it.each([
		["could be made", "exit 0"],
		["could not be tried", "exit 127"],
	])("takes no user namespace for refused that %s", (_what, script) => {
		expect(probe("unshare", script).facts).toMatchObject({ complete: true, makesUserNamespaces: true });
	});

	it("takes one for refused where unshare says so", () => {
		expect(probe("unshare", "exit 1").facts.makesUserNamespaces).toBe(false);
	});

	it("is not complete where something could not be read", () => {
		expect(probe("grep", "exit 2").facts.complete).toBe(false);
	});
});
