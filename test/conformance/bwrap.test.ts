import { conformance } from "../../provider/conformance";
import { Staged } from "../extensions/bwrap/support/staged";
import { USERS } from "../extensions/bwrap/support/users";
import { BwrapUnderTest } from "./support/bwrap";

const staged = new Staged();
const tried = USERS.map((user) => new BwrapUnderTest(staged, user));
afterAll(() => {
	for (const one of tried) one.remove();
	staged.remove();
});

for (const one of tried) conformance(one.adapter({ thorough: process.env["CONFORMANCE"] === "thorough" }));
