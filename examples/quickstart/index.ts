import { Sandbox } from "pulumi-sandboxer";

const box = new Sandbox("box", { profile: "bwrap-local" });

export const sandboxId = box.sandboxId;
export const workspaceDir = box.workspaceDir;
export const reachability = box.reachability;
export const lease = box.lease;
export const controls = box.controls;
