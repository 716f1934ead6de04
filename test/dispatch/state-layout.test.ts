import { packed, unpacked } from "../../provider/dispatch/state-layout";

const LAYOUT = { shown: ["id", "controls"], texts: ["controls"] };
const OUTPUTS = { id: "box", controls: { cpu: { status: "enforced" } }, ttl: "1h", profile: { ttl: { max: "2h" } } };

describe("the outputs in a state", () => {
	it("are three: what is read, what is read as text, and the inputs in one text", () => {
		expect(packed(OUTPUTS, LAYOUT)).toEqual({
			id: "box",
			controls: '{"cpu":{"status":"enforced"}}',
			applied: '{"ttl":"1h","profile":{"ttl":{"max":"2h"}}}',
		});
	});

	it("come out as they went in", () => {
		expect(unpacked(packed(OUTPUTS, LAYOUT), LAYOUT)).toEqual(OUTPUTS);
		expect(unpacked(packed({ id: "box" }, LAYOUT), LAYOUT)).toEqual({ id: "box" });
	});

	it("may be inputs, which nothing was made of yet", () => {
		expect(unpacked({ ttl: "1h" }, LAYOUT)).toEqual({ ttl: "1h" });
	});
});
