/** A path into a document as a person writes it, such as `placement.prefer[0]`. */
export function fieldPath(path: readonly PropertyKey[]): string {
	return path.reduce<string>((text, step) => {
		if (typeof step === "number") return `${text}[${step}]`;
		const key = String(step);
		if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
		return text === "" ? key : `${text}.${key}`;
	}, "");
}
