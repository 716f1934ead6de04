import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { profile } from "./support/host";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { USERS } from "./support/users";

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("the workspace of a sandbox of $name", (user) => {
	let place: Place;
	let repo: string;
	beforeEach(() => {
		place = new Place(staged, user);
		repo = join(place.folder, "repo");
		mkdirSync(join(repo, "src"), { recursive: true });
		writeFileSync(join(repo, "run.sh"), "#!/bin/sh\necho ran\n");
		writeFileSync(join(repo, "src/secret.env"), "TOKEN=1\n");
		chmodSync(join(repo, "run.sh"), 0o755);
		for (const path of [repo, join(repo, "src")]) chmodSync(path, 0o755);
		if (user.uid !== undefined) execFileSync("chown", ["-R", `${user.uid}:${user.uid}`, repo]);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	it("can be used where the caller's umask lets nobody else in", async () => {
		const launcher = (command: readonly string[]) => ["sh", "-c", 'umask 077; exec "$@"', "umask", ...command];
		const box = await place.make({ inputs: { repo } }, place.provider({ launcher }));
		expect((await place.any.do("waitReady", box.handle)).controls["filesystem"]?.status).toBe("enforced");
		expect((await place.sh(box, "cat src/secret.env; echo more >file; cat file; id -un")).stdout).toBe(
			"TOKEN=1\nmore\nroot\n",
		);
	});

	const withAccess = (access: "ro" | "rw") =>
		place.make({ profile: profile({ workspace: { access } }), inputs: { repo } });
	const owner = ({ record }: Box) => record.own_uid ?? record.maker_uid;

	it("is a copy that belongs to the sandbox's own user; the original stays as it was", async () => {
		const box = await withAccess("rw");
		for (const name of ["", "run.sh", "src", "src/secret.env"]) {
			const { uid, gid } = statSync(join(box.workspace, name));
			expect({ name, uid, gid }).toEqual({ name, uid: owner(box), gid: owner(box) });
		}
		const script = "./run.sh; stat -c '%u %a' . run.sh; echo more >>src/secret.env; rm run.sh; touch new; ls";
		expect((await place.sh(box, script)).stdout).toBe("ran\n0 700\n0 755\nnew\nsrc\n");
		expect(readFileSync(join(repo, "src/secret.env"), "utf8")).toBe("TOKEN=1\n");
		expect(readFileSync(join(box.workspace, "src/secret.env"), "utf8")).toBe("TOKEN=1\nmore\n");
	});

	it("cannot be changed under access ro, nor made writable", async () => {
		const box = await withAccess("ro");
		const script =
			"./run.sh; touch new; rm run.sh; chmod 777 run.sh; mount -o remount,rw /workspace; touch /workspace/new; ls";
		const { stdout, stderr } = await place.sh(box, script);
		expect(stdout).toBe("ran\nrun.sh\nsrc\n");
		expect(stderr.match(/Read-only file system/g)?.length).toBe(4);
		await place.any.do("waitReady", box.handle);
	});

	it("is empty where no repo is given, and outlives the commands", async () => {
		const box = await place.make();
		await place.sh(box, "mkdir a; echo b >a/b");
		expect((await place.sh(box, "cat a/b; ls -A")).stdout).toBe("b\na\n");
	});

	it("is shut to other users of the machine", async () => {
		const box = await place.make();
		expect(statSync(box.workspace).mode & 0o777).toBe(0o700);
		const record = statSync(join(box.directory, "record.json"));
		expect([record.mode & 0o777, record.uid]).toEqual([0o600, box.record.maker_uid]);
	});

	it("is gone with the sandbox, whatever was left in it", async () => {
		const box = await withAccess("rw");
		const script =
			"mkdir -p deep/er; ln -s / out; ln -s /etc/passwd p; mkfifo f; chmod 000 deep/er; chmod 000 deep; : >'-rf *'";
		await place.sh(box, script);
		const { remains, removed } = await place.any.do("teardown", box.handle);
		expect(remains).toEqual([]);
		expect(removed).toEqual(expect.arrayContaining([`directory ${box.directory}`]));
	});
});
