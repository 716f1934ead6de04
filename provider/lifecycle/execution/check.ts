import type { Problem } from "../../contract";
import { parseAroundUnknowns } from "../../documents/parse-around-unknowns";
import { isUnknown } from "../../documents/unknown";
import { withoutAbsent } from "../child-inputs";
import { executionInputsSchema } from "./inputs";

/** Validates around what is not known yet. Pure. */
export function checkExecution(news: Record<string, unknown>): {
	readonly inputs: Record<string, unknown>;
	readonly problems: readonly Problem[];
} {
	const { value, problems } = parseAroundUnknowns(executionInputsSchema, news, isUnknown);
	if (problems.length > 0) return { inputs: news, problems };
	return { inputs: withoutAbsent(value as Record<string, unknown>), problems: [] };
}
