import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";

/** Deeper than any document of this package. */
export const MAX_DEPTH = 64;
/** More than any document of this package holds once its aliases are followed. */
export const MAX_VALUES = 5_000;

type Path = readonly (string | number)[];

/** Something wrong with the YAML itself, and where it stands. */
export interface TreeProblem {
	readonly path: Path;
	readonly offset: number;
	readonly reason: string;
}

/** A document's plain values, what is wrong with them as YAML, and where each key stands. */
export interface PlainTree {
	/** False where reading stopped, and there is no value. */
	readonly readable: boolean;
	readonly value: unknown;
	readonly problems: readonly TreeProblem[];
	/** The offset of the key (or list entry) at that path, or of the nearest one around it. */
	offsetOf(path: readonly PropertyKey[]): number;
}

/** Thrown to stop following aliases; never leaves this file. */
class TooMuch extends Error {}

const key = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

/**
 * Turns a composed YAML document into plain values. Unlike the YAML library's own `toJS` it tells where every
 * value stands, and refuses duplicate keys, numbers that lose digits, and aliases that explode, with the path.
 */
export function plainTree(root: Node): PlainTree {
	const tree = new TreeReader();
	let value: unknown;
	try {
		value = tree.read(root, []);
	} catch (thrown) {
		if (!(thrown instanceof TooMuch)) throw thrown;
		const reason = `holds more than ${MAX_VALUES} values, what its aliases stand for included`;
		return {
			readable: false,
			value: undefined,
			problems: [{ path: [], offset: startOf(root), reason }],
			offsetOf: () => startOf(root),
		};
	}
	const offsetOf = (path: readonly PropertyKey[]): number =>
		tree.offsets.get(key(path)) ?? (path.length > 0 ? offsetOf(path.slice(0, -1)) : startOf(root));
	return { readable: true, value, problems: tree.problems, offsetOf };
}

function startOf(node: Node): number {
	return node.range?.[0] ?? 0;
}

class TreeReader {
	readonly problems: TreeProblem[] = [];
	readonly offsets = new Map<string, number>();
	private readonly anchors = new Map<string, Node>();
	private readonly open = new Set<Node>();
	private values = 0;

	/** @param place - The offset that stands for this value in messages. */
	read(node: Node, path: Path, place = startOf(node)): unknown {
		this.values++;
		if (this.values > MAX_VALUES) throw new TooMuch();
		if (path.length > MAX_DEPTH) return this.refuse(path, place, `is nested more than ${MAX_DEPTH} levels deep`);
		if (isAlias(node)) return this.follow(node, path, place);
		if ("anchor" in node && typeof node.anchor === "string") this.anchors.set(node.anchor, node);
		if (isScalar(node)) return this.scalar(node, path, place);
		this.open.add(node);
		const value = isMap<Scalar, Node | null>(node)
			? this.mapping(node, path)
			: isSeq<Node>(node)
				? node.items.map((item, index) => this.entry(item, [...path, index]))
				: undefined;
		this.open.delete(node);
		return value;
	}

	private refuse(path: Path, offset: number, reason: string): undefined {
		this.problems.push({ path, offset, reason });
	}

	private entry(item: Node, path: Path): unknown {
		this.offsets.set(key(path), startOf(item));
		return this.read(item, path);
	}

	private follow(alias: Alias, path: Path, place: number): unknown {
		const target = this.anchors.get(alias.source);
		if (target === undefined)
			return this.refuse(path, place, `refers to *${alias.source}, but no anchor of that name stands before it`);
		if (this.open.has(target)) return this.refuse(path, place, `refers to itself, through *${alias.source}`);
		return this.read(target, path, place);
	}

	private mapping(node: YAMLMap<Scalar, Node | null>, path: Path): Record<string, unknown> {
		const entries = new Map<string, unknown>();
		for (const { key: name, value } of node.items) {
			const word = String(name.value);
			const offset = startOf(name);
			const here = [...path, word];
			if (entries.has(word)) {
				this.refuse(here, offset, "stands twice in the same mapping; keep one");
				continue;
			}
			this.offsets.set(key(here), offset);
			entries.set(word, value === null ? null : this.read(value, here, offset));
		}
		// An own key whatever its name: `__proto__` must not become the prototype.
		return Object.fromEntries(entries);
	}

	private scalar({ value, source, type }: Scalar, path: Path, place: number): unknown {
		if (typeof value !== "number" || type !== "PLAIN" || source === undefined) return value;
		if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
			this.refuse(path, place, `is ${source}, a number too large to be kept exactly; put it in quotes if it is a text`);
		} else if (/^[-+]?0[0-9]/.test(source)) {
			this.refuse(
				path,
				place,
				`is ${source}, which YAML reads as the number ${value}; put it in quotes if it is a text, else leave out the leading zero`,
			);
		}
		return value;
	}
}
