import type { Command } from "../command-line/command";
import { completion } from "./completion";
import { exec } from "./exec";
import { expire } from "./expire";
import { explain } from "./explain";
import { extend } from "./extend";
import { help } from "./help";
import { inventory } from "./inventory";
import { list } from "./list";
import { reap } from "./reap";
import { remove } from "./remove";
import { restore } from "./restore";
import { show } from "./show";
import { snapshot } from "./snapshot";
import { snapshots } from "./snapshots";
import { validate } from "./validate";

/** All commands, in the order of `sandboxer help`. */
export const COMMANDS: readonly Command[] = [
	list,
	show,
	exec,
	extend,
	snapshot,
	snapshots,
	restore,
	remove,
	expire,
	inventory,
	reap,
	explain,
	validate,
	completion,
	help,
];
