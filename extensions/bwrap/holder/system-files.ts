import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { hasErrno } from "../../../provider/errors";
import { writeOpenFile } from "../readable";

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

/** The files of /etc that are the sandbox's own, whole: nothing of them is read from the machine. */
export function systemFiles(hostname: string) {
	return {
		passwd: `root:x:0:0:root:${HOME}:/bin/sh\nsandbox:x:1000:1000:sandbox:${HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
		group: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
		hosts: `127.0.0.1 localhost\n::1 localhost\n127.0.1.1 ${hostname}\n`,
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	} as const;
}

export type SystemFile = keyof ReturnType<typeof systemFiles>;

/**
 * A copy of the machine's resolv.conf, for a sandbox that resolves names: where it is a link, its target is in a folder
 * that the sandbox does not have. Empty where the machine has none: programs then ask its own loopback, here as there.
 */
export function writeResolvers(file: string, machines = "/etc/resolv.conf"): void {
	writeOpenFile(file, textOf(machines));
}

function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch (thrown) {
		if (hasErrno(thrown, "ENOENT", "ENOTDIR", "ELOOP")) return "";
		throw thrown;
	}
}

/**
 * bwrap's words for a read-only system: /usr, the links into it, and a small /etc.
 *
 * @param files - The descriptor that bwrap reads each from.
 * @param resolvers - What {@link writeResolvers} wrote, if anything.
 */
export function systemArguments(files: Readonly<Record<SystemFile, number>>, resolvers?: string): string[] {
	return [
		...programArguments(),
		...Object.entries(files).flatMap(([name, descriptor]) => [
			...["--perms", "0644", "--file", String(descriptor), `/etc/${name}`],
		]),
		...["--symlink", "/proc/sys/kernel/hostname", "/etc/hostname"],
		...(resolvers === undefined ? [] : ["--ro-bind", resolvers, "/etc/resolv.conf"]),
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
