import type { Handle } from "../../provider/contract";
import type { SettingValues } from "../place/settings";

/** What a keeper is told, on its standard input: it may hold secrets, which no file and no command line may. */
export interface Job {
	readonly execId: string;
	readonly folder: string;
	readonly handle: Handle;
	readonly settings: SettingValues;
	readonly argv: readonly string[];
	readonly refs: readonly string[];
	readonly timeoutSeconds: number;
	readonly context: {
		readonly cwd?: string;
		readonly env: Readonly<Record<string, string>>;
		readonly user?: "sandbox" | "root";
	};
}
