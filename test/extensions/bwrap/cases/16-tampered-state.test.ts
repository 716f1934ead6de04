import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import type { Handle } from "../../../../provider/contract";
import { remove } from "../../../../provider/lifecycle";
import { LocalBwrap } from "./local-bwrap";

interface Row {
	readonly remote_dir: string;
	readonly on_disk?: string;
	readonly expect: string;
}

const CASE = resolve(__dirname, "../../../cases/16-delete-the-wrong-dir");
const tampered = (parse(readFileSync(join(CASE, "tampered-state.yaml"), "utf8")) as Row[]).filter(
	({ on_disk }) => on_disk === undefined,
);
const table = parse(readFileSync(join(CASE, "table.yaml"), "utf8")) as {
	base_dir: string;
	id: string;
	dir?: string;
	refuse?: string;
}[];

describe("case 16: removing the wrong directory, through the extension", () => {
	let here: LocalBwrap;
	let handle: Handle;

	beforeEach(async () => {
		here = new LocalBwrap();
		handle = await here.make("demo");
	});

	afterEach(() => here.dispose());

	it.each(tampered.map((row) => [row.remote_dir, row] as const))(
		"a state with remote_dir %j is refused, and nothing is touched",
		async (remoteDir) => {
			const elsewhere = join(here.folder, "state", "bwrap-other", "demo");
			mkdirSync(elsewhere, { recursive: true });
			const translated = remoteDir
				.replace("/srv/sbx-other", join(here.folder, "state", "bwrap-other"))
				.replace("/srv/sbx", here.base);
			const state = here.stateOf({ ...handle, remote_dir: translated });
			await expect(remove(here.backend, state)).rejects.toThrow(/remote_dir/);
			expect(existsSync(join(here.base, "demo", "record.json"))).toBe(true);
			expect(existsSync(elsewhere)).toBe(true);
		},
	);

	it.each(table.filter(({ refuse }) => refuse === "sandbox_id").map(({ id }) => [id]))(
		"id %j is refused at create, and again at destroy from a state",
		async (id) => {
			await expect(here.make(id)).rejects.toThrow(/sandbox_id/);
			const state = here.stateOf({ ...handle, sandbox_id: id });
			await expect(remove(here.backend, state)).rejects.toThrow(/sandbox_id|remote_dir/);
			expect(existsSync(join(here.base, "demo", "record.json"))).toBe(true);
		},
	);

	it("somebody's folder under the id is refused, and not written to", async () => {
		const home = join(here.base, "ci");
		mkdirSync(home);
		writeFileSync(join(home, "thesis.txt"), "years");
		await expect(here.make("ci")).rejects.toThrow(/is an existing directory without our marker/);
		const state = here.stateOf({ ...handle, sandbox_id: "ci", remote_dir: home });
		await expect(remove(here.backend, state)).rejects.toThrow(/without the record/);
		expect(readFileSync(join(home, "thesis.txt"), "utf8")).toBe("years");
	});

	it("a link in the place of the folder is not followed", async () => {
		const home = join(here.folder, "home");
		mkdirSync(home);
		writeFileSync(join(home, "thesis.txt"), "years");
		symlinkSync(home, join(here.base, "linked"));
		const state = here.stateOf({ ...handle, sandbox_id: "linked", remote_dir: join(here.base, "linked") });
		await expect(remove(here.backend, state)).rejects.toThrow(/linked/);
		expect(readFileSync(join(home, "thesis.txt"), "utf8")).toBe("years");
		rmSync(join(here.base, "linked"));
	});
});
