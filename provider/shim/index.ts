/**
 * The text that stands in every state as `__provider`, and may be run a year from now by another version of this
 * package: it only finds the installed package and hands over. It names nothing but the extension's id; `test/shim`
 * pins it.
 *
 * Until `configure` has loaded the package every method throws: the SDK would take a missing delete for a success.
 *
 * It is written here as the SDK's dynamic provider reads it, a module with a `handler`. The SDK's own serialisation of a
 * provider object would take twice the room, and 0.2 s of each program; a compiler or bundler would have a say in it.
 */
export function shim(id: string): string {
	return `exports.handler = () => {
	const closed = () => {
		throw new Error("pulumi-sandboxer could not be loaded, see the first error of this run!");
	};
	return {
		configure(request) {
			const name = "pulumi-sandboxer/dynamic";
			const { createRequire } = require("node:module");
			let from = createRequire(process.cwd() + "/x.js");
			try {
				from.resolve(name);
			} catch {
				from = createRequire(process.argv[1]);
			}
			Object.assign(this, from(name).provider(${JSON.stringify(id)}, request));
		},
		check: closed, diff: closed, create: closed, read: closed, update: closed, delete: closed,
	};
};
`;
}
