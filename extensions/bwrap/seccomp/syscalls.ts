/** The architectures the filter is written for, by Node's names for them. */
export type FilterArch = "x64" | "arm64";

/** What a system call gets: it runs, or it returns -1 with this errno and does nothing. */
export type Answer = "ALLOW" | "ENOSYS" | "EPERM" | "EAFNOSUPPORT";

/**
 * A test of one argument's low 32 bits. That is all the kernel looks at in the arguments tested
 * here (clone's flags, ioctl's command, socket's domain and protocol), so a filter that looked at
 * the high 32 bits as well could be walked around by setting one of them.
 */
export interface ArgumentTest {
	/** Which argument, counted from 0. */
	readonly argument: number;
	/** `equals`: the same number; `anyBit`: at least one bit in common. */
	readonly test: "equals" | "anyBit";
	readonly value: number;
}

/** Arguments for which a system call gets another answer than usual. */
export interface ArgumentException {
	/** All of these must hold. */
	readonly when: readonly ArgumentTest[];
	readonly answer: Answer;
}

/** One system call: its number on each architecture that has it, and what it gets. */
export interface SyscallRule {
	readonly x64?: number;
	readonly arm64?: number;
	/** The answer when no exception applies. */
	readonly answer: Answer;
	/** Tried in order; the first that applies gives the answer. */
	readonly exceptions?: readonly ArgumentException[];
}

/**
 * The system calls a sandbox's filter decides on, in the order in which the filter tries them.
 * A call that is not here is allowed.
 *
 * What counts for a process without capabilities in a user namespace: new user namespaces (unshare,
 * clone, clone3), keyctl (keyrings belong to the uid, no namespace parts them), io_uring (its
 * requests pass by the filter), vsock, perf, userfaultfd, bpf and TIOCSTI. The mount family, kexec,
 * modules and swap fail for lack of a capability anyway; here they are a second line.
 *
 * Numbers: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` (x64) and
 * `include/uapi/asm-generic/unistd.h` (arm64). Flags: `linux/sched.h`, `asm-generic/ioctls.h`,
 * `linux/socket.h`.
 *
 * @example
 * ```ts
 * SYSCALLS["mount"]; // { x64: 165, arm64: 40, answer: "EPERM" }
 * ```
 */
export const SYSCALLS: Readonly<Record<string, SyscallRule>> = {
	// "This kernel has no such call", so that callers fall back to the older call, which is dealt
	// with below. For clone3 it is the only way: its flags lie in memory a filter cannot read.
	clone3: { x64: 435, arm64: 435, answer: "ENOSYS" },
	open_tree: { x64: 428, arm64: 428, answer: "ENOSYS" },
	move_mount: { x64: 429, arm64: 429, answer: "ENOSYS" },
	fsopen: { x64: 430, arm64: 430, answer: "ENOSYS" },
	fsconfig: { x64: 431, arm64: 431, answer: "ENOSYS" },
	fsmount: { x64: 432, arm64: 432, answer: "ENOSYS" },
	fspick: { x64: 433, arm64: 433, answer: "ENOSYS" },
	mount_setattr: { x64: 442, arm64: 442, answer: "ENOSYS" },
	open_tree_attr: { x64: 467, arm64: 467, answer: "ENOSYS" },
	io_uring_setup: { x64: 425, arm64: 425, answer: "ENOSYS" },
	io_uring_enter: { x64: 426, arm64: 426, answer: "ENOSYS" },
	io_uring_register: { x64: 427, arm64: 427, answer: "ENOSYS" },
	userfaultfd: { x64: 323, arm64: 282, answer: "ENOSYS" },
	pidfd_getfd: { x64: 438, arm64: 438, answer: "ENOSYS" },
	quotactl_fd: { x64: 443, arm64: 443, answer: "ENOSYS" },

	mount: { x64: 165, arm64: 40, answer: "EPERM" },
	umount2: { x64: 166, arm64: 39, answer: "EPERM" },
	pivot_root: { x64: 155, arm64: 41, answer: "EPERM" },
	chroot: { x64: 161, arm64: 51, answer: "EPERM" },
	unshare: { x64: 272, arm64: 97, answer: "EPERM" },
	setns: { x64: 308, arm64: 268, answer: "EPERM" },
	add_key: { x64: 248, arm64: 217, answer: "EPERM" },
	request_key: { x64: 249, arm64: 218, answer: "EPERM" },
	keyctl: { x64: 250, arm64: 219, answer: "EPERM" },
	bpf: { x64: 321, arm64: 280, answer: "EPERM" },
	perf_event_open: { x64: 298, arm64: 241, answer: "EPERM" },
	kexec_load: { x64: 246, arm64: 104, answer: "EPERM" },
	kexec_file_load: { x64: 320, arm64: 294, answer: "EPERM" },
	init_module: { x64: 175, arm64: 105, answer: "EPERM" },
	finit_module: { x64: 313, arm64: 273, answer: "EPERM" },
	delete_module: { x64: 176, arm64: 106, answer: "EPERM" },
	open_by_handle_at: { x64: 304, arm64: 265, answer: "EPERM" },
	swapon: { x64: 167, arm64: 224, answer: "EPERM" },
	swapoff: { x64: 168, arm64: 225, answer: "EPERM" },
	reboot: { x64: 169, arm64: 142, answer: "EPERM" },
	sethostname: { x64: 170, arm64: 161, answer: "EPERM" },
	setdomainname: { x64: 171, arm64: 162, answer: "EPERM" },
	quotactl: { x64: 179, arm64: 60, answer: "EPERM" },
	acct: { x64: 163, arm64: 89, answer: "EPERM" },
	settimeofday: { x64: 164, arm64: 170, answer: "EPERM" },
	clock_settime: { x64: 227, arm64: 112, answer: "EPERM" },
	clock_adjtime: { x64: 305, arm64: 266, answer: "EPERM" },
	syslog: { x64: 103, arm64: 116, answer: "EPERM" },
	vhangup: { x64: 153, arm64: 58, answer: "EPERM" },
	kcmp: { x64: 312, arm64: 272, answer: "EPERM" },
	lookup_dcookie: { x64: 212, arm64: 18, answer: "EPERM" },
	move_pages: { x64: 279, arm64: 239, answer: "EPERM" },
	migrate_pages: { x64: 256, arm64: 238, answer: "EPERM" },
	fanotify_init: { x64: 300, arm64: 262, answer: "EPERM" },
	nfsservctl: { x64: 180, arm64: 42, answer: "EPERM" },
	iopl: { x64: 172, answer: "EPERM" },
	ioperm: { x64: 173, answer: "EPERM" },
	modify_ldt: { x64: 154, answer: "EPERM" },
	uselib: { x64: 134, answer: "EPERM" },

	clone: {
		x64: 56,
		arm64: 220,
		answer: "ALLOW",
		exceptions: [
			// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME (0x80) is
			// part of the exit signal to clone: only clone3 and unshare take it as a flag.
			{ when: [{ argument: 0, test: "anyBit", value: 0x7e020000 }], answer: "EPERM" },
		],
	},
	ioctl: {
		x64: 16,
		arm64: 29,
		answer: "ALLOW",
		exceptions: [
			// TIOCSTI, TIOCLINUX: both type into the terminal, for whoever reads it after the sandbox.
			{ when: [{ argument: 1, test: "equals", value: 0x5412 }], answer: "EPERM" },
			{ when: [{ argument: 1, test: "equals", value: 0x541c }], answer: "EPERM" },
		],
	},

	// Only AF_UNIX makes pairs: asking another family for one runs its code for nothing.
	socketpair: {
		x64: 53,
		arm64: 199,
		answer: "EAFNOSUPPORT",
		exceptions: [{ when: [{ argument: 0, test: "equals", value: 1 }], answer: "ALLOW" }],
	},
	socket: {
		x64: 41,
		arm64: 198,
		answer: "EAFNOSUPPORT",
		exceptions: [
			// AF_UNIX, AF_INET, AF_INET6.
			{ when: [{ argument: 0, test: "equals", value: 1 }], answer: "ALLOW" },
			{ when: [{ argument: 0, test: "equals", value: 2 }], answer: "ALLOW" },
			{ when: [{ argument: 0, test: "equals", value: 10 }], answer: "ALLOW" },
			// AF_NETLINK with NETLINK_ROUTE: getaddrinfo and os.networkInterfaces ask it for addresses.
			{
				when: [
					{ argument: 0, test: "equals", value: 16 },
					{ argument: 2, test: "equals", value: 0 },
				],
				answer: "ALLOW",
			},
		],
	},

	// Allowed because each exec has a pid namespace of its own, so there is nobody else's process
	// to reach; without that they would have to be refused. Debuggers need them.
	ptrace: { x64: 101, arm64: 117, answer: "ALLOW" },
	process_vm_readv: { x64: 310, arm64: 270, answer: "ALLOW" },
	process_vm_writev: { x64: 311, arm64: 271, answer: "ALLOW" },
};
