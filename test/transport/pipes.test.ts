import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../extensions/bwrap/support/until";

const TRANSPORT = join(__dirname, "../../dist/provider/transport/index.js");
const MAKE = `require(process.argv[1]).makePipes(2, process.env.PATH, undefined).then(
	([pipe]) => console.log(Object.keys(pipe).join()),
	({ code, message }) => console.log(code, message),
);`;

describe("pipes", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "pipes-"));
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	const start = (changes: Record<string, string> = {}) =>
		spawn(process.execPath, ["-e", MAKE, TRANSPORT], { env: { ...process.env, TMPDIR: folder, ...changes } });
	const isEmpty = () => readdirSync(folder).length === 0;

	it("are made, and have no names any more", async () => {
		const child = start();
		const [said] = (await once(child.stdout, "data")) as [Buffer];
		expect(String(said)).toBe("reader,writer\n");
		await until("no name is left", isEmpty, 5_000);
	});

	it("leave no names where whoever makes them is killed, whenever that is", async () => {
		for (let pause = 30; pause < 90; pause += 3) {
			const child = start();
			const ended = once(child, "exit");
			await delay(pause);
			child.kill("SIGKILL");
			await ended;
		}
		await until("no name is left", isEmpty, 5_000);
	});

	it("are refused in a folder that is not there, by its name and with the way out", async () => {
		const child = start({ TMPDIR: join(folder, "none") });
		const [said] = (await once(child.stdout, "data")) as [Buffer];
		expect(String(said)).toMatch(/^preflight No pipe could be made in .*none.*: mkdir: .*No such file or directory/);
	});
});
