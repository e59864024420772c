import { describe, expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { npwpText, readParty } from "./party.ts";

const party = { name: "PT Maju", address: "Jl. Merdeka 1\nJakarta", npwp: "01.234.567.8-901.000" };

describe("a party of a receipt", () => {
  it("is stored with the digits of its NPWP, and without spaces around its lines", () => {
    expect(readParty({ ...party, name: " PT Maju ", address: "  Jl. Merdeka 1 \r\n\r\n Jakarta " }, "buyer")).toEqual({
      name: "PT Maju",
      address: "Jl. Merdeka 1\nJakarta",
      npwp: "012345678901000",
    });
  });

  it.each([
    ["name", { name: "x".repeat(121) }],
    ["name", { name: "PT\nMaju" }],
    ["name", { name: "PT \u202eujaM" }],
    ["name", { name: "" }],
    ["name", { name: "PT Maju\u2028NPWP 1234567890123456" }],
    ["name", { name: "\u200b" }],
    ["address", { address: "Jl. Merdeka\u2029Jakarta" }],
    ["address", { address: "a\nb\nc\nd\ne\nf\ng" }],
    ["address", { address: "a\u0000b" }],
    ["npwp", { npwp: "12345678901234" }],
    ["npwp", { npwp: "0123456789012A5" }],
  ])("is refused for its %s: %o", (field, change) => {
    const read = () => readParty({ ...party, ...change }, "buyer");
    expect(read).toThrow(ValidationError);
    expect(read).toThrow(field);
  });

  it("has an NPWP that is written in groups", () => {
    expect(npwpText("012345678901000")).toBe("01.234.567.8-901.000");
    expect(npwpText("0012345678901000")).toBe("0012 3456 7890 1000");
  });
});
