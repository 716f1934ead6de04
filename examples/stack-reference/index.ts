import * as pulumi from "@pulumi/pulumi";

const producer = new pulumi.StackReference(new pulumi.Config().require("producer"));
const sandboxId = producer.requireOutput("sandboxId");
const handle = producer.requireOutput("handle");
const reachability = producer.requireOutput("reachability");

/** For whoever works in the sandbox: which one, which life of it, and where. */
export const target = pulumi
	.all([sandboxId, handle, reachability])
	.apply(([id, { generation }, { host }]) => `${id}, life ${generation}, on ${host}`);
/** Empty where the extension keeps no folder that its host can see. */
export const remoteDir = reachability.apply(({ remote_dir }) => remote_dir ?? "");
export { sandboxId };
