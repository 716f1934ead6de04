// Makes a sandbox, works with it and removes it, whatever happens meanwhile: node index.mjs [seconds of work]
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { Sandbox } from "pulumi-sandboxer";

const seconds = Number(process.argv[2] ?? 5);
const onOutput = (text) => process.stdout.write(text);

// The first Ctrl-C ends the work and cleans up. The second kills; then the sandbox ends with its lease. The handlers
// stay (`on`, not `once`): the SDK kills a script that has none left.
const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM"])
	process.on(name, () => (interrupted.signal.aborted ? process.exit(130) : interrupted.abort()));

const stackName = `run-${process.pid}`;
const stack = await LocalWorkspace.createOrSelectStack({
	projectName: "automation",
	stackName,
	program: async () => {
		const box = new Sandbox("box", { profile: "bwrap-local", ttl: "10m" });
		return { sandboxId: box.sandboxId, workspaceDir: box.workspaceDir };
	},
});
try {
	interrupted.signal.throwIfAborted();
	const { outputs } = await stack.up({ onOutput });
	await work(outputs.sandboxId.value, outputs.workspaceDir.value);
} catch (error) {
	if (!interrupted.signal.aborted) throw error;
	process.exitCode = 130;
} finally {
	// A Ctrl-C in the terminal reaches the pulumi command too, and ends a destroy that has begun: hence again.
	await stack.destroy({ onOutput }).catch(() => stack.destroy({ onOutput }));
	await stack.workspace.removeStack(stackName);
	await rm(stack.workspace.workDir, { recursive: true });
	console.log("removed");
}

async function work(sandboxId, workspaceDir) {
	await writeFile(join(workspaceDir, "task.txt"), "say hello\n");
	console.log(`working with ${sandboxId} for ${seconds} s: ${await readdir(workspaceDir)}`);
	await setTimeout(seconds * 1000, undefined, { signal: interrupted.signal });
}
