import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Something that listens on this machine, outside every sandbox. */
export interface Listener {
	readonly port: number;
	close(): Promise<void>;
}

async function close(server: Server): Promise<void> {
	server.close();
	await once(server, "close");
}

/** A listener on the machine's own loopback. */
export async function listenOnLoopback(): Promise<Listener> {
	const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	return { port: typeof address === "object" && address !== null ? address.port : 0, close: () => close(server) };
}

/** A listener on a socket in the abstract name space, which no file system bounds. */
export async function listenAbstract(name: string): Promise<Listener> {
	const server = createServer((socket) => socket.end("hello")).listen({ path: `\0${name}` });
	await once(server, "listening");
	return { port: 0, close: () => close(server) };
}

/** A resolver that knows one address for every name, on a loopback address of its own, port 53. */
export async function resolver(address: string, answer: readonly [number, number, number, number]): Promise<Listener> {
	const socket = createSocket("udp4");
	socket.on("message", (query, { port, address: from }) => {
		const end = query.indexOf(0, 12) + 5;
		const isA = query.readUInt16BE(end - 4) === 1;
		// The question again, and for an A record (type 1, class IN, 60 s) the address; RFC 1035, 4.1.
		const header = Buffer.from(query.subarray(0, 12));
		header.writeUInt16BE(0x8180, 2);
		header.writeUInt16BE(isA ? 1 : 0, 6);
		header.fill(0, 8, 12);
		const record = isA ? Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...answer]) : Buffer.alloc(0);
		socket.send(Buffer.concat([header, query.subarray(12, end), record]), port, from);
	});
	socket.bind(53, address);
	await once(socket, "listening");
	return {
		port: 53,
		close: async () => {
			socket.close();
			await once(socket, "close");
		},
	};
}
