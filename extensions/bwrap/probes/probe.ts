import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FORBIDDEN_PLACES } from "./checks";

/** What is run inside to see the controls. */
export const PROBE = ["sh", "-c", readFileSync(join(__dirname, "probe.sh"), "utf8"), "probe", ...FORBIDDEN_PLACES];
