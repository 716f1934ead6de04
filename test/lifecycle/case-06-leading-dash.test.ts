import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { BwrapExtension } from "../../extensions/bwrap/handler";
import { check } from "../../provider/lifecycle";
import { asked } from "./a-sandbox";

interface Row {
	readonly field: string;
	readonly value: string;
}

const { refuse } = parse(readFileSync(resolve(__dirname, "../cases/06-leading-dash/values.yaml"), "utf8")) as {
	refuse: Row[];
};

const extension = new BwrapExtension({
	declaration: {
		id: "ext.bwrap",
		title: "bubblewrap",
		handler: "./handler:BwrapExtension",
		capabilities: { isolation_levels: ["process"], pricing_model: "self-hosted" },
	},
	config: {},
	environment: () => undefined,
	credentials: { route: () => undefined, value: () => undefined },
	now: () => 0,
});

function problemsOf(changes: Record<string, unknown>) {
	const profile = { ...(asked()["profile"] as object), extension: "ext.bwrap", resources: {} };
	return check(extension, {}, asked({ extension: "ext.bwrap", profile, ...changes })).problems;
}

/** Fields of later extensions (ssh, vm, packer, branch) wait for those; placement is the loader's, see test/documents. */
const rows = refuse.filter(({ field }) => ["inputs.repo", "inputs.sandbox_id"].includes(field));

describe("case 06: values that turn into options or commands (bwrap, check)", () => {
	it.each(rows.map(({ field, value }) => [field, value]))(
		"refuses %s %j before anything is started, naming the field",
		(field, value) => {
			const changes = field === "inputs.repo" ? { inputs: { repo: value } } : { sandboxId: value };
			const problems = problemsOf(changes);
			expect(problems.map((problem) => problem.field)).toEqual([field === "inputs.repo" ? "inputs.repo" : "sandboxId"]);
			expect(JSON.stringify(problems)).not.toContain("canary-token");
		},
	);

	it.each([["./app"], ["../shared/app"], ["/srv/app"], ["app-1"], ["./-odd"], ["./with blank/ümlaut"]])(
		"accepts the local folder %j",
		(repo) => {
			expect(problemsOf({ inputs: { repo } })).toEqual([]);
		},
	);
});
