import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import type { Handle } from "../../../../provider/contract";
import { ProcessTable } from "../../../../provider/identity";
import { read, remove } from "../../../../provider/lifecycle";
import { LocalBwrap } from "./local-bwrap";

interface Row {
	readonly directory?: string;
	readonly project?: string;
	readonly base_dir?: string;
	readonly ssh: string;
	readonly refresh: string;
	readonly destroy: string;
}

const rows = parse(
	readFileSync(resolve(__dirname, "../../../cases/05-gone-already/host-states.yaml"), "utf8"),
) as Row[];

/** Rows that only an ssh host or a container engine can show wait for those extensions. Here a project is the process. */
const local = rows.filter(({ ssh }) => ssh === "ok").filter((row) => !("docker" in row));

describe("case 05: it vanished meanwhile, or we only think so (bwrap)", () => {
	let here: LocalBwrap;
	let handle: Handle;
	let directory: string;

	beforeEach(async () => {
		here = new LocalBwrap();
		handle = await here.make("demo");
		directory = String(handle["remote_dir"]);
	});

	afterEach(() => here.dispose());

	async function kill(): Promise<void> {
		const table = new ProcessTable();
		const { supervisor, init } = JSON.parse(readFileSync(join(directory, "record.json"), "utf8"));
		table.signal(supervisor, "SIGKILL", "group");
		while (table.isAlive(supervisor) || table.isAlive(init)) await new Promise((done) => setTimeout(done, 5));
	}

	async function arrange({ directory: folder, project, base_dir }: Row): Promise<void> {
		if (project !== "running") await kill();
		if (base_dir === "missing") return rmSync(here.base, { recursive: true });
		if (folder === "missing") rmSync(directory, { recursive: true });
		if (folder?.startsWith("present-but")) {
			const other = await here.make("other");
			rmSync(directory, { recursive: true });
			renameSync(String(other["remote_dir"]), directory);
		}
	}

	it.each(local.map((row) => [JSON.stringify(row), row] as const))("%s", async (_text, row) => {
		await arrange(row);
		const state = here.stateOf(handle);
		const seen = await read(here.backend, "demo", state);
		if (row.refresh === "removed-from-state") expect(seen).toBeUndefined();
		else expect(seen?.outputs.phase).toBe("gone");
		await remove(here.backend, state);
		if (row.destroy !== "ok-touches-nothing") expect(existsSync(directory)).toBe(false);
		else expect(existsSync(join(directory, "record.json"))).toBe(true);
		await remove(here.backend, state);
		expect(here.said.join("\n")).toMatch(/was already gone/);
	});

	it("a folder without its record is neither gone nor ours: kept in the state, and not removed", async () => {
		await kill();
		rmSync(join(directory, "record.json"));
		expect((await read(here.backend, "demo", here.stateOf(handle)))?.outputs.phase).toBe("gone");
		await expect(remove(here.backend, here.stateOf(handle))).rejects.toThrow(
			/without the record that would make it ours/,
		);
		expect(existsSync(join(directory, "workspace"))).toBe(true);
		rmSync(directory, { recursive: true });
	});

	it("a record that cannot be read is no proof: an error, and the state stays", async () => {
		await kill();
		const record = join(directory, "record.json");
		renameSync(record, `${record}.good`);
		writeFileSync(record, "{ truncated");
		await expect(read(here.backend, "demo", here.stateOf(handle))).rejects.toThrow(/is damaged/);
		await expect(remove(here.backend, here.stateOf(handle))).rejects.toThrow(/is damaged/);
		renameSync(`${record}.good`, record);
	});

	it("an expired one is told from a killed one by its lease", async () => {
		await kill();
		const phase = async () => (await read(here.backend, "demo", here.stateOf(handle)))?.outputs.phase;
		expect(await phase()).toBe("gone");
		// As the place has it, whatever the state says.
		writeFileSync(join(directory, "control", "deadline"), "1\n");
		expect(await phase()).toBe("expired");
	});
});
