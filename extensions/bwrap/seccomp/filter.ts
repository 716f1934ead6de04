import { SandboxerError } from "../../../provider/errors";
import { type Answer, type FilterArch, SYSCALLS, type SyscallRule } from "./syscalls";

/** `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of `linux/audit.h`. */
const AUDIT_ARCH: Readonly<Record<FilterArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** `SECCOMP_RET_KILL_PROCESS` of `linux/seccomp.h`. */
const KILL_PROCESS = 0x80000000;

/** `SECCOMP_RET_ALLOW`, and `SECCOMP_RET_ERRNO` (0x00050000) with an errno of `asm-generic`. */
const RESULTS: Readonly<Record<Answer, number>> = {
	ALLOW: 0x7fff0000,
	EPERM: 0x00050000 | 1,
	ENOSYS: 0x00050000 | 38,
	EAFNOSUPPORT: 0x00050000 | 97,
};

/** `__X32_SYSCALL_BIT` of `asm/unistd.h`: the lowest number of x86's third ABI. */
const X32_SYSCALL_BIT = 0x40000000;

/** Offsets in `struct seccomp_data` of `linux/seccomp.h`, in bytes; arguments are 8 bytes each. */
const NR = 0;
const ARCH = 4;
const ARGUMENTS = 16;

/** `struct sock_filter` of `linux/filter.h`; jumps count instructions from the next one. */
interface Instruction {
	readonly code: number;
	readonly jumpTrue: number;
	readonly jumpFalse: number;
	readonly k: number;
}

/** Opcodes of `linux/bpf_common.h`, all with a constant operand. */
const LOAD_WORD = 0x20;
const JUMP = { equals: 0x15, atLeast: 0x35, anyBit: 0x45 } as const;
const RETURN = 0x06;

/** Bytes in one instruction. */
const INSTRUCTION_SIZE = 8;

/**
 * The seccomp filter of a sandbox, as the bytes `bwrap --seccomp FD` reads: an array of
 * `struct sock_filter`, 8 bytes an instruction, little endian (1.2 KiB).
 *
 * A system call of another architecture kills the process, since its numbers mean other calls
 * (`int 0x80` on x64). x32 calls get ENOSYS. Then the rules of {@link SYSCALLS} in their order;
 * whatever is left is allowed. bwrap reads the descriptor from its offset to the end, so open the
 * file anew for each spawn.
 *
 * Sources: `linux/seccomp.h`, `linux/filter.h`, `linux/bpf_common.h`, `linux/audit.h`; for the
 * system calls see {@link SYSCALLS}.
 *
 * @param arch - the architecture of the host that runs bwrap, by Node's name (`process.arch`).
 * @throws {@link SandboxerError} `unsupported` when there is no filter for the architecture.
 *
 * @example
 * ```ts
 * await writeFile(path, seccompFilter(process.arch));
 * ```
 */
export function seccompFilter(arch: string): Buffer {
	if (!isFilterArch(arch)) {
		throw new SandboxerError({
			code: "unsupported",
			message: `There is no seccomp filter for the architecture ${JSON.stringify(arch)}: only for ${Object.keys(AUDIT_ARCH).join(" and ")}.`,
			hint: "Run the sandbox on a host with one of these architectures, or choose a profile of another extension.",
		});
	}
	return assemble([
		load(ARCH),
		{ code: JUMP.equals, jumpTrue: 1, jumpFalse: 0, k: AUDIT_ARCH[arch] },
		giveBack(KILL_PROCESS),
		load(NR),
		...(arch === "x64" ? refuseX32() : []),
		...Object.values(SYSCALLS).flatMap((rule) => decide(rule, rule[arch])),
		giveBack(RESULTS.ALLOW),
	]);
}

function isFilterArch(arch: string): arch is FilterArch {
	return Object.hasOwn(AUDIT_ARCH, arch);
}

function refuseX32(): Instruction[] {
	return [unless("atLeast", X32_SYSCALL_BIT, 1), giveBack(RESULTS.ENOSYS)];
}

/**
 * The instructions for one system call. They always end in an answer when the number matches, so
 * that the next rule finds the number still loaded, and jumps stay far below their limit of 255.
 */
function decide(rule: SyscallRule, nr: number | undefined): Instruction[] {
	if (nr === undefined) {
		return [];
	}
	const body = [
		...(rule.exceptions ?? []).flatMap(({ when, answer }) => [
			...when.flatMap(({ argument, test, value }, index) => [
				load(ARGUMENTS + 8 * argument),
				// To the next exception: over the tests that are left, two instructions each, and the answer.
				unless(test, value, 2 * (when.length - index - 1) + 1),
			]),
			giveBack(RESULTS[answer]),
		]),
		giveBack(RESULTS[rule.answer]),
	];
	return [unless("equals", nr, body.length), ...body];
}

function load(offset: number): Instruction {
	return { code: LOAD_WORD, jumpTrue: 0, jumpFalse: 0, k: offset };
}

/** Goes on with the next instruction if the test holds, else skips that many. */
function unless(test: keyof typeof JUMP, k: number, skip: number): Instruction {
	return { code: JUMP[test], jumpTrue: 0, jumpFalse: skip, k };
}

function giveBack(result: number): Instruction {
	return { code: RETURN, jumpTrue: 0, jumpFalse: 0, k: result };
}

function assemble(instructions: readonly Instruction[]): Buffer {
	const bytes = Buffer.alloc(instructions.length * INSTRUCTION_SIZE);
	instructions.forEach(({ code, jumpTrue, jumpFalse, k }, index) => {
		const at = index * INSTRUCTION_SIZE;
		bytes.writeUInt16LE(code, at);
		bytes.writeUInt8(jumpTrue, at + 2);
		bytes.writeUInt8(jumpFalse, at + 3);
		bytes.writeUInt32LE(k, at + 4);
	});
	return bytes;
}
