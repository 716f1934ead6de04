import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { kill } from "../../support/kill";
import { profile } from "./support/host";
import type { Wish } from "./support/messages";
import { type Box, Place } from "./support/place";
import { Staged } from "./support/staged";
import { processesOf, processesOfGroup } from "./support/traces";
import { until } from "./support/until";
import { USERS } from "./support/users";

const LIMIT_SECONDS = 4;
/** Long enough for an idle one to have been ended: the limit, two looks, and what a busy machine adds. */
const OBSERVED_MS = 10_000;
const ENDED_MS = 40_000;

/** Perl, as it is on every Debian, listens on a port and says nothing to whoever connects. */
const LISTEN = `use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 7000) or die $!;`;
const CONNECT = (port: number) =>
	`use IO::Socket::INET; my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${port}) or die $!;`;
/** Names that would end a reading by blanks or brackets too early, and one that looks like busy figures. */
const NAMES = ["a b c", "x) R 9 9 9 (", "(((", "y\\n) S 1 1 1", "9 9 9 9 9 9 9 9", "\\n\\n\\n", "))))"];
const named = (then: string) =>
	`for my $n (${NAMES.map((name) => `"${name}"`).join(", ")}) { next if fork; $0 = $n; ${then} } sleep 1000;`;

const staged = new Staged();
afterAll(() => staged.remove());

describe.each(USERS)("an idle limit of $name", (user) => {
	let place: Place;
	beforeEach(() => {
		place = new Place(staged, user);
	});
	afterEach(async () => expect(await place.dispose()).toEqual([]));

	const limited = (network: "deny" | "allow" = "deny", idle = `${LIMIT_SECONDS}s`): Partial<Wish> => ({
		profile: profile({ network: { default: network }, ttl: { default: "1h", max: "4h", idle_reap: idle } }),
	});
	const pidOf = ({ record }: Box) => record.supervisor?.pid ?? 0;
	const runs = (box: Box) => processesOfGroup(pidOf(box)).length > 0;
	const perl = (box: Box, script: string) => void place.enter(box, ["perl", "-e", script], 120).catch(() => undefined);
	const looked = (box: Box) =>
		place.any.do("waitReady", box.handle).then(
			() => "ready",
			({ message, details }: { message: string; details: { expired?: boolean } }) => ({ message, ...details }),
		);

	it("ends whatever does nothing, and says for how long it did not", async () => {
		const make = (sandboxId: string) => place.make({ sandboxId, ...limited() });
		const boxes = [
			await make("nothing"),
			await make("asleep"),
			await make("server"),
			await make("names"),
			await make("many"),
		];
		const [, asleep, server, names, many] = boxes as [Box, Box, Box, Box, Box];
		void place.sh(asleep, "sleep 1000").catch(() => undefined);
		perl(server, `${LISTEN} $s->accept; sleep 1000;`);
		perl(names, named("sleep 1000;"));
		void place.sh(many, "for i in $(seq 300); do sleep 1000 & done; wait").catch(() => undefined);
		await until("all are over", () => !boxes.some(runs), ENDED_MS);
		for (const box of boxes) {
			expect(await looked(box)).toMatchObject({
				expired: true,
				message: expect.stringMatching(/does not run any more \(it was idle for \d+s\)/),
			});
		}
		const [located] = await place.any.do("locate", {});
		expect(located).toMatchObject({ isOver: true, alive: false });
		expect(Date.parse(located?.expiresAt ?? "")).toBeLessThan(Date.now() + 1000);
	});

	it("leaves alone whatever does something", async () => {
		const make = (sandboxId: string) => place.make({ sandboxId, ...limited() });
		const spin = "my $until = time + 25; while (time < $until) {}";
		// Each begins at once: it is idle until then.
		const open = await make("open");
		perl(open, `${LISTEN} if (fork) { my $a = $s->accept; sleep 1000 } ${CONNECT(7000)} sleep 25; exit;`);
		const execs = await make("execs");
		const coming = setInterval(() => void place.sh(execs, "true").catch(() => undefined), 1000);
		// Each second a process of a few ticks that is over before anybody looks.
		const bursts = await make("bursts");
		void place
			.sh(bursts, "while :; do (i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done); sleep 1; done")
			.catch(() => undefined);
		const cpu = await make("cpu");
		perl(cpu, spin);
		const names = await make("names");
		perl(names, named(`${spin} exit;`));
		await setTimeout(OBSERVED_MS).finally(() => clearInterval(coming));
		const boxes = [open, execs, bursts, cpu, names];
		expect(boxes.map((box) => [box.handle.sandbox_id, runs(box)])).toEqual(
			boxes.map((box) => [box.handle.sandbox_id, true]),
		);
		expect((await place.any.do("waitReady", open.handle)).controls["idle"]).toEqual({
			status: "enforced",
			note: `ended after ${LIMIT_SECONDS}s without a command begun, cpu used or a connection`,
		});
		await until("execs is over once nobody comes", () => !runs(execs), ENDED_MS);
	});

	describe("on the machine's own network", () => {
		let server: Server;
		let port = 0;
		beforeEach(async () => {
			server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
			await once(server, "listening");
			({ port } = server.address() as { port: number });
		});
		afterEach(() => void server.close());

		it("counts the sandbox's own connections and nobody else's, and names the gap", async () => {
			const [talks, silent] = [
				await place.make({ sandboxId: "talks", ...limited("allow") }),
				await place.make({ sandboxId: "silent", ...limited("allow") }),
			];
			perl(talks, `${CONNECT(port)} sleep 1000;`);
			// The same user, outside of any sandbox.
			const outsider = place.outsider(["perl", "-e", `${CONNECT(port)} sleep 1000;`]);
			try {
				await until("the silent one is over", () => !runs(silent), ENDED_MS);
				await setTimeout(OBSERVED_MS / 2);
				expect(runs(talks)).toBe(true);
				expect((await place.any.do("waitReady", talks.handle)).controls["idle"]).toMatchObject({
					status: "enforced-with-gaps",
				});
			} finally {
				outsider.kill("SIGKILL");
			}
		});
	});

	it("can be set, changed and lifted while the sandbox runs", async () => {
		const box = await place.make();
		const terms = { maxSeconds: 3600 };
		expect((await looked(box)) === "ready" && processesOfGroup(pidOf(box)).length).toBeLessThanOrEqual(4);
		await place.any.do("extendLease", { handle: box.handle, terms: { ...terms, idleSeconds: 600 } });
		expect(place.box(box.handle).record.idle_seconds).toBe(600);
		await place.any.do("extendLease", { handle: box.handle, terms });
		expect(place.box(box.handle).record.idle_seconds).toBeUndefined();
		await setTimeout(OBSERVED_MS);
		expect(runs(box)).toBe(true);
		await place.any.do("extendLease", { handle: box.handle, terms: { ...terms, idleSeconds: LIMIT_SECONDS } });
		await until("it is over", () => !runs(box), ENDED_MS);
		expect(await looked(box)).toMatchObject({ expired: true });
	});

	it("ends the sandbox when its judge ends", async () => {
		const box = await place.make(limited("deny", "1h"));
		// What it forks for a moment has those words too, and is gone before it is looked at again.
		const parentOf = (pid: number) => {
			const file = `/proc/${pid}/status`;
			return existsSync(file) ? Number(/^PPid:\s+(\d+)/m.exec(readFileSync(file, "utf8"))?.[1]) : undefined;
		};
		const judges = () =>
			processesOf(box.directory).filter(
				({ pid, command }) => command.includes(" supervise ") && parentOf(pid) === pidOf(box),
			);
		await until("it has one", () => judges().length === 1);
		kill(judges()[0]?.pid);
		await until("nothing is left", () => place.traces().length === 0, ENDED_MS);
		expect(readFileSync(join(box.directory, "verdict"), "utf8")).toMatch(/^obeys \d+\n$/);
	});
});
