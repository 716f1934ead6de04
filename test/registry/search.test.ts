import { join } from "node:path";
import { searchFrom } from "../../provider/registry";
import { folderOf } from "./folder-of";
import { refusalOf } from "./refusal-of";

test("the folders of stack config start at the program's folder", () => {
	const cwd = folderOf({ "a/x": "", "b/c/x": "" });
	expect(searchFrom({ cwd, profilePath: `a:${join(cwd, "b")}:`, extensionPath: "./b/c" })).toEqual({
		cwd,
		profileFolders: [join(cwd, "a"), join(cwd, "b")],
		extensionFolders: [join(cwd, "b/c")],
	});
	expect(searchFrom({ cwd })).toEqual({ cwd, profileFolders: [], extensionFolders: [] });
});

test.each([
	["sandboxer:profilePath", { profilePath: "a:nope" }],
	["sandboxer:extensionPath", { extensionPath: "nope" }],
	["sandboxer:profilePath", { profilePath: "a/x" }],
])("a folder of %s that is none is refused, naming the key and where it was looked for", (key, paths) => {
	const cwd = folderOf({ "a/x": "" });
	const { message } = refusalOf(() => searchFrom({ cwd, ...paths }));
	expect(message).toContain(`${key}: `);
	expect(message).toContain(`looked for ${cwd}/`);
});
