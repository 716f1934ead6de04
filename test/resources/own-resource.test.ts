import { execFileSync } from "node:child_process";
import { join } from "node:path";

const OWN_RESOURCE = join(__dirname, "../../dist/provider/resources/own-resource.js");

/** In a process of its own: the SDK goes on working after the refusal. */
const PROGRAM = `
const { OwnResource } = require(process.argv[1]);
class Paper extends OwnResource {
	constructor(name) {
		super({ provider: "paper", type: "Paper", results: [] }, name, {}, {});
	}
}
function whereItStands() {
	new Paper("");
}
const { stackTraceLimit } = Error;
try {
	whereItStands();
} catch ({ stack }) {
	console.log(JSON.stringify({ stack, isKept: Error.stackTraceLimit === stackTraceLimit }));
}
process.exit();
`;

it("a resource that the SDK refuses says where in the program it stands, and the limit of stack traces is as it was", () => {
	const { stack, isKept } = JSON.parse(
		execFileSync(process.execPath, ["-e", PROGRAM, OWN_RESOURCE], { encoding: "utf8" }),
	) as { stack: string; isKept: boolean };
	expect(stack).toMatch(/Missing resource name[\s\S]*whereItStands/);
	expect(isKept).toBe(true);
});
