import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Names that programs stumble over; each byte one character. */
const ODD_NAMES = [
	"a\nb",
	"-rf",
	" lead",
	"caf\xc3\xa9",
	"not\xff\xfeutf8",
	"\\n",
	'q"uote',
	"*",
	"\xc3\xa9".repeat(40),
	`${"n".repeat(200)}`,
];

/** A tree of all that a snapshot carries. */
export function makeTree(directory: string): void {
	const at = (...parts: string[]) => join(directory, ...parts);
	mkdirSync(at("empty/inner"), { recursive: true });
	mkdirSync(at("src"), { mode: 0o755 });
	writeFileSync(at("src/run.sh"), "#!/bin/sh\n", { mode: 0o755 });
	writeFileSync(at("src/private"), "mine", { mode: 0o600 });
	writeFileSync(at("zero"), "");
	symlinkSync("run.sh", at("src/inner-link"));
	symlinkSync("../src/run.sh", at("empty/back"));
	symlinkSync("not-there", at("dangling"));
	linkSync(at("src/run.sh"), at("hard"));
	for (const name of ODD_NAMES)
		writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, "latin1")]), name);
	const deep = join(directory, ...Array<string>(12).fill("d".repeat(100)));
	mkdirSync(deep, { recursive: true });
	writeFileSync(join(deep, "deep"), "deep");
	execFileSync("truncate", ["-s", "64M", at("sparse")]);
	execFileSync("sh", ["-c", `printf middle | dd of='${at("sparse")}' bs=1 seek=33554432 conv=notrunc status=none`]);
	execFileSync("python3", [
		"-c",
		"import os,sys; os.setxattr(sys.argv[1], 'user.note', b'a\\0b=c\\n')",
		at("src/private"),
	]);
	execFileSync("touch", ["-d", "2001-02-03T04:05:06.789Z", at("src/private")]);
	execFileSync("chmod", ["500", at("src")]);
}

/** What a tree is: every entry by its bytes, kind, mode, time, links, attributes and contents. */
export function describeTree(directory: string): string[] {
	const script = `
import hashlib, json, os, stat, sys
root = sys.argv[1].encode()
seen = {}
def walk(path):
    for name in sorted(os.listdir(path)):
        p = path + b"/" + name
        s = os.lstat(p)
        e = {"name": p[len(root):].decode("latin1"), "mode": oct(s.st_mode)}
        if stat.S_ISLNK(s.st_mode): e["target"] = os.readlink(p).decode("latin1")
        else: e["attributes"] = {k: os.getxattr(p, k).decode("latin1") for k in os.listxattr(p) if k.startswith("user.")}
        if stat.S_ISREG(s.st_mode):
            e["first"] = seen.setdefault(s.st_ino, e["name"])
            e["size"], e["mtime"] = s.st_size, s.st_mtime_ns // 1000
            e["sum"] = hashlib.sha256(open(p, "rb").read()).hexdigest()
        print(json.dumps(e))
        if stat.S_ISDIR(s.st_mode): walk(p)
walk(root)`;
	return execFileSync("python3", ["-c", script, directory], { encoding: "utf8" }).trim().split("\n");
}
