import * as pulumi from "@pulumi/pulumi";

const producer = new pulumi.StackReference(new pulumi.Config().require("producer"));

export const sandboxId = producer.requireOutput("sandboxId");
export const handle = producer.requireOutput("handle");
const reachability = producer.requireOutput("reachability");

/** For whoever works in the sandbox: which one, which life of it, and where. */
export const target = pulumi.interpolate`${sandboxId}#${handle.generation} on ${reachability.host}`;
/** Empty where the extension keeps no folder that its host can see. */
export const remoteDir = reachability.apply((known) => known.remote_dir ?? "");
