import * as pulumi from "@pulumi/pulumi";
import { PausedStackTraces } from "../provider/resources/stack-traces";

/** A component that is registered without a stack trace for each of the SDK's promises. */
export abstract class OwnComponent extends pulumi.ComponentResource {
	constructor(type: string, name: string, opts: pulumi.ComponentResourceOptions) {
		const traces = new PausedStackTraces();
		try {
			super(type, name, {}, opts);
		} catch (thrown) {
			throw traces.retraced(thrown);
		} finally {
			traces.resume();
		}
	}

	protected override registerOutputs(outputs: pulumi.Inputs): void {
		const traces = new PausedStackTraces();
		try {
			super.registerOutputs(outputs);
		} finally {
			traces.resume();
		}
	}
}
