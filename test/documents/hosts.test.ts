import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { parseAroundUnknowns } from "../../provider/documents/parse-around-unknowns";
import { profileSchema } from "../../provider/documents/profile";

interface Row {
	field: string;
	value: unknown;
}

const values = parse(readFileSync(join(__dirname, "../cases/06-leading-dash/values.yaml"), "utf8")) as {
	refuse: Row[];
	accept: Row[];
};
const hosts = (rows: Row[]): Row[] => rows.filter(({ field }) => field === "placement.prefer");
const profile = { id: "profile.x", version: "1", extension: "ext.x", isolation: { level: "container" } };
const judged = (placement: object) =>
	parseAroundUnknowns(profileSchema, { ...profile, placement }, () => false).problems;

test("the case has the rows it had", () => {
	expect([hosts(values.refuse).length, hosts(values.accept).length]).toEqual([4, 4]);
});

test.each(hosts(values.refuse))("the host $value is refused, with its field", ({ value }) => {
	const reason = expect.stringContaining("is not a host name, alias or address");
	expect(judged({ prefer: ["ok", value] })).toEqual([{ field: "placement.prefer[1]", reason }]);
	expect(judged({ fallback: [value] })).toEqual([{ field: "placement.fallback[0]", reason }]);
});

test.each(hosts(values.accept))("the host $value is accepted", ({ value }) => {
	expect(judged({ prefer: [value], fallback: [value] })).toEqual([]);
});

test.each(["a\n", "", "user@host", "-F/x", "fe80::1%eth0;x", "1::2::3", "[2001:db8::1]", "host:22"])(
	"the host %j is refused",
	(value) => {
		expect(judged({ prefer: [value] })).toHaveLength(1);
	},
);
