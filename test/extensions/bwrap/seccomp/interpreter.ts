/** One system call, as the kernel shows it to a filter. */
export interface FilteredCall {
	readonly arch: number;
	readonly nr: number;
	readonly args?: readonly (number | bigint)[];
}

/**
 * Runs a classic BPF program over one system call, as the kernel would, and returns its 32-bit
 * result. Throws where the kernel would refuse to load the program: an unknown instruction, a load
 * from outside `struct seccomp_data`, an end without a return.
 */
export function interpret(program: Buffer, { arch, nr, args = [] }: FilteredCall): number {
	const data = Buffer.alloc(64);
	data.writeUInt32LE(nr, 0);
	data.writeUInt32LE(arch, 4);
	for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
	let accumulator = 0;
	for (let at = 0; ; at += 8) {
		const code = program.readUInt16LE(at);
		const k = program.readUInt32LE(at + 4);
		const jump = (holds: boolean) => 8 * program.readUInt8(at + (holds ? 2 : 3));
		if (code === 0x20) accumulator = data.readUInt32LE(k);
		else if (code === 0x15) at += jump(accumulator === k);
		else if (code === 0x35) at += jump(accumulator >= k);
		else if (code === 0x45) at += jump((accumulator & k) !== 0);
		else if (code === 0x06) return k;
		else throw new Error(`Instruction ${at / 8} has the unknown code 0x${code.toString(16)}.`);
	}
}
