import { setTimeout as pause } from "node:timers/promises";
import { RunOfEngine } from "../../provider/dispatch/run-of-engine";

describe("texts on a resource's row", () => {
	let told: string[];
	let run: RunOfEngine;
	beforeEach(() => {
		const texts: string[] = [];
		told = texts;
		run = new RunOfEngine(undefined, (_severity, urn, message) => {
			texts.push(`${urn}: ${message}`);
			return Promise.resolve();
		});
	});

	const short = (urn: string, message: string) => run.say("INFO", urn, message, true);
	const lasting = (urn: string, message: string) => run.say("INFO", urn, message, false);

	it("are not told where another of the same resource follows at once", async () => {
		await run.during("a", async () => {
			short("a", "provisioning");
			short("b", "copying");
			short("a", "starting");
			await pause(1);
			lasting("a", "ready");
		});
		expect(told).toEqual(["a: ready"]);
	});

	it("are told when what they say goes on for a while", async () => {
		await run.during("a", async () => {
			short("a", "copying");
			while (told.length === 0) await pause(10);
		});
		expect(told).toEqual(["a: copying"]);
	});

	it("are told by the end of the call that said them", async () => {
		await run.during("a", async () => {
			short("a", "provisioning");
			short("a", "what will be made");
			return Promise.resolve();
		});
		expect(told).toEqual(["a: what will be made"]);
	});
});
