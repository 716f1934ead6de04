import { connect } from "node:http2";
import { createRequire } from "node:module";

/** The engine that started this process: its address is the first argument. */
const ENGINE_ADDRESS = /^(.+):(\d+)$/;

/** How long calls that were begun may take to roll back once the run is being stopped. */
const ROLLBACK_MS = 30_000;
/** The engine sends SIGINT and kills after 5 s. */
const INTERRUPTED_MS = 4_500;

/** An ephemeral text that gives way to the next within this is not told: for each, the engine draws the row anew. */
const HELD_MS = 200;

type Severity = "INFO" | "WARNING";
type Log = (severity: Severity, urn: string, message: string, ephemeral: boolean) => Promise<void>;

/**
 * The run of the engine that this provider process serves: puts texts on resources' rows, and ends the
 * process, with what it had begun rolled back, when the engine dies (a SIGKILL of the CLI does not reach
 * a provider, which would go on and race the next up).
 */
export class RunOfEngine {
	private readonly stopping = new AbortController();
	private readonly calls = new Set<Promise<unknown>>();
	private readonly pending = new Set<Promise<void>>();
	/** URN → its ephemeral text that waits whether another follows. */
	private readonly held = new Map<string, { readonly timer: NodeJS.Timeout; readonly tell: () => void }>();

	/** @param log - Of a test; else the engine's own, where there is one. */
	constructor(
		address: string | undefined,
		private log?: Log,
	) {
		const [, host, port] = ENGINE_ADDRESS.exec(address ?? "") ?? [];
		if (host !== undefined && port !== undefined) {
			// HTTP/2, as the engine's gRPC server speaks it: it hangs up after 120 s on whoever stays silent, and what
			// it says first must be read, or its end is never seen.
			const link = connect(`http://${host}:${port}`);
			// The wish to notice a death must not keep anything alive.
			link.unref();
			link.on("error", () => undefined);
			link.once("close", () => void this.stop(ROLLBACK_MS));
			this.log ??= engineLog(`${host}:${port}`);
		}
		for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void this.stop(INTERRUPTED_MS));
	}

	get signal(): AbortSignal {
		return this.stopping.signal;
	}

	/** Runs a call of a resource that is rolled back, not cut off, when the run stops; its texts are delivered before it ends. */
	async during<T>(urn: string | undefined, work: () => Promise<T>): Promise<T> {
		const call = work();
		this.calls.add(call);
		try {
			return await call;
		} finally {
			this.calls.delete(call);
			if (urn !== undefined) this.release(urn);
			await Promise.allSettled(this.pending);
		}
	}

	/** A text on the resource's own row. Ephemeral ones give way to the next. Never fails a call. */
	say(severity: Severity, urn: string, message: string, ephemeral: boolean): void {
		const { log } = this;
		if (log === undefined || this.signal.aborted) return;
		clearTimeout(this.held.get(urn)?.timer);
		this.held.delete(urn);
		const tell = () => {
			const said = log(severity, urn, message, ephemeral).finally(() => this.pending.delete(said));
			this.pending.add(said);
		};
		if (ephemeral) this.held.set(urn, { timer: setTimeout(() => this.release(urn), HELD_MS), tell });
		else tell();
	}

	private release(urn: string): void {
		const held = this.held.get(urn);
		this.held.delete(urn);
		clearTimeout(held?.timer);
		held?.tell();
	}

	private async stop(withinMs: number): Promise<void> {
		if (this.signal.aborted) return;
		this.stopping.abort();
		const limit = new Promise((resolve) => setTimeout(resolve, withinMs));
		await Promise.race([Promise.allSettled(this.calls), limit]);
		process.exit(1);
	}
}

/** The engine's own Log call, through the SDK's client: the SDK itself offers it to programs only. */
function engineLog(address: string): Log {
	const fromSdk = createRequire(require.resolve("@pulumi/pulumi"));
	const grpc = fromSdk("@grpc/grpc-js") as { credentials: { createInsecure(): unknown } };
	const { EngineClient } = fromSdk("@pulumi/pulumi/proto/engine_grpc_pb") as {
		EngineClient: new (address: string, credentials: unknown) => LogClient;
	};
	const { LogRequest, LogSeverity } = fromSdk("@pulumi/pulumi/proto/engine_pb") as {
		LogRequest: new () => LogRequest;
		LogSeverity: Record<Severity, number>;
	};
	const client = new EngineClient(address, grpc.credentials.createInsecure());
	return (severity, urn, message, ephemeral) =>
		new Promise((resolve) => {
			const request = new LogRequest();
			request.setSeverity(LogSeverity[severity]);
			request.setUrn(urn);
			request.setMessage(message);
			request.setEphemeral(ephemeral);
			client.log(request, () => resolve());
		});
}

interface LogRequest {
	setSeverity(severity: number): void;
	setUrn(urn: string): void;
	setMessage(message: string): void;
	setEphemeral(ephemeral: boolean): void;
}

interface LogClient {
	log(request: LogRequest, done: (error: unknown) => void): void;
}
