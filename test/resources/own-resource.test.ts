import { execFileSync } from "node:child_process";
import { join } from "node:path";

const BUILT = join(__dirname, "../../dist");

/** In a process of its own: the SDK goes on working after the refusal. */
const PROGRAM = `
const [built, kind] = process.argv.slice(1);
const { OwnResource } = require(built + "/provider/resources/own-resource.js");
const { OwnComponent } = require(built + "/components/own-component.js");
const CLASSES = {
	resource: class extends OwnResource {
		constructor(name) {
			super({ provider: "paper", type: "Paper", results: [] }, name, {}, {});
		}
	},
	component: class extends OwnComponent {
		constructor(name) {
			super("test:index:Paper", name, {});
		}
	},
};
function whereItStands() {
	new CLASSES[kind]("");
}
const { stackTraceLimit } = Error;
try {
	whereItStands();
} catch ({ stack }) {
	console.log(JSON.stringify({ stack, isKept: Error.stackTraceLimit === stackTraceLimit }));
}
process.exit();
`;

it.each(["resource", "component"])(
	"a %s that the SDK refuses says where in the program it stands, and the limit of stack traces is as it was",
	(kind) => {
		const { stack, isKept } = JSON.parse(
			execFileSync(process.execPath, ["-e", PROGRAM, BUILT, kind], { encoding: "utf8" }),
		) as { stack: string; isKept: boolean };
		expect(stack).toMatch(/Missing resource name[\s\S]*whereItStands/);
		expect(isKept).toBe(true);
	},
);
