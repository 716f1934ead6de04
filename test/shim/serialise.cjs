// Prints what stands in a state as `__provider`, made from the built package the way the SDK makes it.
const pulumi = require("@pulumi/pulumi");
const { shim } = require("../../dist/provider/shim");

const provider = shim(process.argv[2]);
pulumi.runtime.serializeFunction(() => provider, { allowSecrets: true }).then(({ text }) => process.stdout.write(text));
