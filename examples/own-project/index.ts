import { Sandbox } from "pulumi-sandboxer";

const box = new Sandbox("box", { profile: "bwrap-local", inputs: { repo: "./app" }, ttl: "2h" });

// One by one, never the component: it holds the secret `credentials`, which would make a secret of all.
export const sandboxId = box.sandboxId;
export const workspaceDir = box.workspaceDir;
export const reachability = box.reachability;
export const lease = box.lease;
export const handle = box.handle;
