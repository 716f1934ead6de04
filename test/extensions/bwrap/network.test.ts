import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { profile } from "./support/host";
import { type Listener, listenAbstract, listenOnLoopback, resolver } from "./support/host-services";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { isRoot, USERS } from "./support/users";

/** perl's own calls, no module of it: domain, type, protocol; then the address. */
const CONNECT = `socket(S, $ARGV[0], 1, 0) or die "socket: $!\\n";
	connect(S, $ARGV[0] == 1 ? pack("S x a*", 1, $ARGV[1]) : pack("S n C4 x8", 2, $ARGV[1], 127, 0, 0, 1)) or die "connect: $!\\n";
	print <S>`;
const AF = { UNIX: "1", INET: "2", VSOCK: "40" };
const EVERY_INTERFACE = "for file in /proc/net/dev; do sed -n 's/^ *\\([^ ]*\\):.*/\\1/p' $file; done";

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("the network of a sandbox of $name", (user) => {
	let place: Place;
	let loopback: Listener;
	let abstract: Listener;
	const boxes: Record<string, Box> = {};
	const name = `sandboxer-test-${process.pid}-${user.name.replaceAll(" ", "-")}`;
	const connect = (network: "deny" | "allow", domain: string, address: string | number) =>
		place.enter(boxes[network] as Box, ["perl", "-e", CONNECT, domain, String(address)]);

	beforeAll(async () => {
		[loopback, abstract] = await Promise.all([listenOnLoopback(), listenAbstract(name)]);
		place = new Place(staged, user);
		for (const network of ["deny", "allow"] as const) {
			boxes[network] = await place.make({ sandboxId: network, profile: profile({ network: { default: network } }) });
		}
	});
	afterAll(async () => {
		expect(await place.dispose()).toEqual([]);
		await Promise.all([loopback.close(), abstract.close()]);
	});

	it("deny: has a loopback of its own and nothing else", async () => {
		expect((await place.sh(boxes["deny"] as Box, EVERY_INTERFACE)).stdout).toBe("lo\n");
		expect(await connect("deny", AF.INET, loopback.port)).toMatchObject({ stderr: "connect: Connection refused\n" });
		expect(await connect("deny", AF.UNIX, name)).toMatchObject({ stderr: "connect: Connection refused\n" });
		const ready = await place.any.do("waitReady", (boxes["deny"] as Box).handle);
		expect(ready.controls["network"]?.status).toBe("enforced");
	});

	it("deny: its own loopback works", async () => {
		const script = `socket(L, 2, 1, 0); bind(L, pack("S n C4 x8", 2, 8080, 127, 0, 0, 1)) and listen(L, 1) or die;
			if (!fork) { accept(C, L); syswrite C, "from inside"; exit }
			socket(S, 2, 1, 0); connect(S, pack("S n C4 x8", 2, 8080, 127, 0, 0, 1)) or die; print <S>`;
		expect((await place.enter(boxes["deny"] as Box, ["perl", "-e", script])).stdout).toBe("from inside");
	});

	it("allow: the machine's own is there, with the gaps that the controls name", async () => {
		const ready = await place.any.do("waitReady", (boxes["allow"] as Box).handle);
		expect(ready.controls["network"]).toEqual({
			status: "enforced-with-gaps",
			note: "the host's loopback and abstract sockets are reachable",
		});
		const here = readFileSync("/proc/net/dev", "utf8")
			.match(/^ *\S+(?=:)/gm)
			?.map((word) => word.trim());
		expect((await place.sh(boxes["allow"] as Box, EVERY_INTERFACE)).stdout.trim().split("\n")).toEqual(here);
		expect((await connect("allow", AF.INET, loopback.port)).stdout).toBe("hello");
		expect((await connect("allow", AF.UNIX, name)).stdout).toBe("hello");
	});

	it.each(["deny", "allow"] as const)("%s: a virtual machine's channel to its host is shut", async (network) => {
		const { stderr } = await connect(network, AF.VSOCK, 1024);
		expect(stderr).toBe("socket: Address family not supported by protocol\n");
	});

	it.each(["deny", "allow"] as const)("%s: localhost resolves", async (network) => {
		const { stdout } = await place.sh(boxes[network] as Box, "getent hosts localhost");
		expect(stdout).toMatch(/^(::1|127\.0\.0\.1) +localhost/);
	});

	it("allow: the resolvers are those of the machine, as a file of the sandbox's own", async () => {
		const inside = await place.sh(boxes["allow"] as Box, "cat /etc/resolv.conf");
		expect(inside).toMatchObject({ exitCode: 0, stdout: readFileSync("/etc/resolv.conf", "utf8") });
		expect((await place.sh(boxes["deny"] as Box, "cat /etc/resolv.conf")).exitCode).toBe(1);
	});

	// Port 53 is root's.
	(isRoot ? it : it.skip)("allow: a name from the resolver resolves; deny: it does not (needs root)", async () => {
		const address = "127.20.30.40";
		const dns = await resolver(address, [192, 0, 2, 7]);
		try {
			const ask = async (network: "deny" | "allow") => {
				const box = boxes[network] as Box;
				if (network === "allow") {
					// The file that is bound, not another one in its place.
					writeFileSync(join(box.directory, "resolv.conf"), `nameserver ${address}\noptions timeout:5 attempts:3\n`);
				}
				return (await place.sh(box, "getent hosts name.sandboxer.test || echo unknown")).stdout;
			};
			expect(await ask("allow")).toMatch(/^192\.0\.2\.7 +name\.sandboxer\.test/);
			expect(await ask("deny")).toBe("unknown\n");
		} finally {
			await dns.close();
		}
	});
});
