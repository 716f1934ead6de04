import { lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasErrno } from "../../../provider/errors";

/** Where the sandbox's home is, inside. */
export const HOME = "/home/sandbox";

/** Files and folders of the machine's own /etc that programs need and that hold no secret. */
const FROM_HOST = [
	"ld.so.cache",
	"ld.so.conf",
	"alternatives",
	"localtime",
	"ssl/certs",
	"ssl/openssl.cnf",
	"pki/ca-trust",
	"pki/tls/certs",
	"protocols",
	"services",
	"mime.types",
];

/**
 * A small /etc of the sandbox's own: nothing of it is read from the machine, but resolv.conf where names shall resolve.
 *
 * @param resolvConf - The machine's.
 */
export function writeSystemFiles(
	folder: string,
	hostname: string,
	network: "deny" | "allow",
	resolvConf = "/etc/resolv.conf",
): void {
	const files: Record<string, string> = {
		passwd: `root:x:0:0:root:${HOME}:/bin/sh\nsandbox:x:1000:1000:sandbox:${HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
		group: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
		hosts: `127.0.0.1 localhost\n::1 localhost\n127.0.1.1 ${hostname}\n`,
		hostname: `${hostname}\n`,
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	};
	// A copy of what the link leads to: its target is in a folder that the sandbox does not have.
	if (network === "allow") files["resolv.conf"] = resolvers(resolvConf);
	mkdirSync(folder, { mode: 0o755 });
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o644 });
}

/** Empty where the machine has none: programs then ask its own loopback, here as there. */
function resolvers(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ENOTDIR", "ELOOP")) return "";
		throw thrown;
	}
}

/** bwrap's words for a read-only system: /usr, the links into it, and the small /etc. */
export function systemArguments(folder: string, network: "deny" | "allow"): string[] {
	const own = [
		"passwd",
		"group",
		"hosts",
		"hostname",
		"nsswitch.conf",
		...(network === "allow" ? ["resolv.conf"] : []),
	];
	return [
		...programArguments(),
		...own.flatMap((name) => ["--ro-bind", join(folder, name), `/etc/${name}`]),
		...FROM_HOST.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
	];
}

/** bwrap's words for the machine's programs, read-only. */
export function programArguments(): string[] {
	return [
		...["--ro-bind", "/usr", "/usr"],
		...["bin", "sbin", "lib", "lib32", "lib64"].flatMap((name) => rootFolder(`/${name}`)),
	];
}

/** /bin and the like are links into /usr on most machines, and folders on some. */
function rootFolder(path: string): string[] {
	const stat = lstatSync(path, { throwIfNoEntry: false });
	if (stat === undefined) return [];
	return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
