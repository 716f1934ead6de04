import { isIPv6 } from "node:net";
import { z } from "zod";

/** The longest sandbox id: it becomes a folder, a host name, a cgroup and a label. */
export const SANDBOX_ID_MAX = 63;

/** A sandbox id: lower case letters, digits, "-" and "_", not starting with a dash or underscore, at most 63. */
export const sandboxIdSchema = z
	.string()
	.max(SANDBOX_ID_MAX, `must have at most ${SANDBOX_ID_MAX} characters`)
	.regex(
		/^[a-z0-9][a-z0-9_-]*$/,
		'must be made of a-z, 0-9, "-" and "_" and start with a letter or digit, such as "demo-1"',
	);

/** An id of a document, such as `profile.agent-dev`. */
export const sandboxIdLikeSchema = z
	.string()
	.regex(/^[a-z0-9][a-z0-9._-]*$/, 'must be made of a-z, 0-9, ".", "-" and "_", such as "profile.agent-dev"');

/** An extension's id, such as `ext.bwrap`. */
export const extensionIdSchema = z
	.string()
	.regex(
		/^ext\.[a-z0-9]+(-[a-z0-9]+)*$/,
		'must be "ext." and a name of a-z, 0-9 and single dashes, such as "ext.my-backend"',
	);

/** How strongly a sandbox is kept apart, weakest first. */
export const isolationLevelSchema = z.enum(["process", "container", "vm", "microvm"]);

function isHost(word: string): boolean {
	const [address = "", zone, ...more] = word.split("%");
	if (zone !== undefined) return more.length === 0 && isIPv6(address) && /^[A-Za-z0-9_.-]+$/.test(zone);
	return isIPv6(word) || (/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(word) && word.length <= 255);
}

/** A host: a name or alias, an IPv4 or a bare IPv6 address with or without a zone. Never a word that a program could take for an option. */
export const hostSchema = z
	.string()
	.refine(isHost, 'is not a host name, alias or address, such as "build-1.example.com" or "2001:db8::10"');
