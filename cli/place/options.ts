import type { Options } from "../command-line/command";

/** Where a command looks; every command that looks somewhere has these. */
export const WHERE = {
	stack: {
		type: "string",
		short: "s",
		value: "STACK",
		about: "The sandboxes and the settings of this Pulumi stack",
	},
	"project-dir": {
		type: "string",
		short: "C",
		value: "DIR",
		about: "Run as if started in this folder, such as the stack's project",
		complete: "files",
	},
	extension: {
		type: "string",
		short: "x",
		multiple: true,
		value: "ID",
		about: "Ask this extension only (default: all self-hosted ones)",
		complete: "extensions",
	},
	config: {
		type: "string",
		short: "c",
		multiple: true,
		value: "KEY=VALUE",
		about: "A setting as in stack config, such as bwrap.state_dir=/srv/sandboxes",
	},
} as const satisfies Options;
