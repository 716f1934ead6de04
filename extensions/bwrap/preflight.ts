import { SandboxerError } from "../../provider/errors";
import { findProgram } from "../../provider/transport";

/** The programs a bwrap sandbox is made with, and the Debian package of each. */
const PROGRAMS = {
	bwrap: "bubblewrap",
	setpriv: "util-linux",
	nsenter: "util-linux",
	prlimit: "util-linux",
	flock: "util-linux",
	sh: "dash",
	sleep: "coreutils",
} as const;
export type Program = keyof typeof PROGRAMS;
export type Programs = Readonly<Record<Program, string>>;

/** The PATH of programs that this extension starts on the host, where the environment names none. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Where each program is; one error names all that is missing. */
export function findPrograms(path: string): Programs {
	const found = Object.entries(PROGRAMS).map(([name, debian]) => ({ name, debian, file: findProgram(name, path) }));
	const missing = found.filter(({ file }) => file === undefined);
	if (missing.length > 0) {
		const packages = [...new Set(missing.map(({ debian }) => debian))].join(" ");
		throw new SandboxerError({
			code: "preflight",
			message: `ext.bwrap needs ${missing.map(({ name }) => name).join(", ")}, not found on PATH (${path}).`,
			hint: `Install it: sudo apt-get install ${packages}.`,
			details: { missing: missing.map(({ name }) => name) },
		});
	}
	return Object.fromEntries(found.map(({ name, file }) => [name, file])) as Programs;
}

/** bwrap 0.8's own words, with their cause and the way out. The first that fits. */
const CAUSES: readonly { readonly words: RegExp; readonly cause: string; readonly wayOut: string }[] = [
	{
		words: /nesting depth or \/proc\/sys\/user\/max_\S+_namespaces exceeded/,
		cause:
			"user or pid namespaces are switched off on this machine, or this already runs inside a sandbox that forbids them",
		wayOut:
			"As root: sysctl user.max_user_namespaces=15000 user.max_pid_namespaces=15000; or run outside that sandbox.",
	},
	{
		words: /No permissions to create new namespace/,
		cause: "this kernel, this container's seccomp filter or a chroot does not let ordinary users make namespaces",
		wayOut:
			"As root: sysctl kernel.unprivileged_userns_clone=1 (Debian); in a container run with seccomp=unconfined; never from inside a chroot.",
	},
	{
		words: /Creating new namespace failed: Operation not permitted/,
		cause: "this process may not make namespaces (root without CAP_SYS_ADMIN)",
		wayOut: "Run as an ordinary user, or give the container CAP_SYS_ADMIN.",
	},
	{
		words: /setting up uid map: Permission denied/,
		cause:
			"AppArmor forbids unprivileged user namespaces to bwrap (kernel.apparmor_restrict_unprivileged_userns=1, Ubuntu 23.10 and later)",
		wayOut:
			"Give bwrap an AppArmor profile with the userns permission, or as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0.",
	},
	{
		words: /setting up uid map: Operation not permitted/,
		cause: "root lacks SETUID, SETGID or SETFCAP here",
		wayOut: "Give the container these capabilities, or run as an ordinary user.",
	},
	{
		words: /setting up uid map: Read-only file system/,
		cause: "/proc is read-only where bwrap runs",
		wayOut: "Run it where /proc is writable: not inside a sandbox or a hardened service.",
	},
	{
		words: /Can't mount proc on/,
		cause: "parts of /proc are masked here, as in a container",
		wayOut:
			"Run the container with an unmasked /proc (docker: --security-opt systempaths=unconfined), or on the machine itself.",
	},
	{
		words: /Can't find source path (.+): Permission denied/,
		cause: "the sandbox's own user may not pass through a folder above its workspace",
		wayOut:
			"Choose a state folder that everybody may pass through: pulumi config set --path sandboxer:bwrap.state_dir /srv/sandboxes.",
	},
	{
		words: /setresuid failed|setresgid failed|setgroups failed/i,
		cause: "root may not become the sandbox's own user id here (a user namespace that does not map it)",
		wayOut: "Run as an ordinary user, or map user ids up to 2147352575 into the container.",
	},
];

/** Why bwrap did not start, in its own words, with the cause and the way out where they are known. */
export function startFailure(sandboxId: string, log: string): SandboxerError {
	const words = log.trim().split("\n").slice(-5).join("\n");
	const known = CAUSES.find((candidate) => candidate.words.test(words));
	const said = words === "" ? "it ended without a word" : `bwrap said: ${words}`;
	return new SandboxerError({
		code: "preflight",
		message: `Sandbox ${sandboxId} could not be started with bwrap: ${known === undefined ? said : `${known.cause} (${said})`}.`,
		hint: `${known?.wayOut ?? "Try by hand: bwrap --unshare-user --ro-bind / / true."} Nothing was run on the host instead.`,
		details: { sandbox_id: sandboxId, log: words },
	});
}
