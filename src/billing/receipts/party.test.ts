import { describe, expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { npwpText, printedParty, readParty } from "./party.ts";

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

  it.each([
    ["buyer.name", { name: "株式会社サルド 🎉" }, "株 (U+682A), 式 (U+5F0F), 会 (U+4F1A), 社 (U+793E), サ (U+30B5), …"],
    ["buyer.name", { name: "PT Maju 🎉" }, "🎉 (U+1F389)"],
    ["buyer.name", { name: "PT \ue000" }, "\ue000 (U+E000)"],
    ["buyer.address", { address: "Jl. Merdeka 1\n北京" }, "北 (U+5317), 京 (U+4EAC)"],
  ])("is refused where receipts cannot print its %s, and the characters are named: %o", (field, change, named) => {
    const message = `The request is not valid. ${field} has characters that receipts cannot print: ${named}.`;
    expect(() => readParty({ ...party, ...change }, "buyer")).toThrow(message);
  });

  it("keeps names in Latin, Greek and Cyrillic letters, and makes one character of a letter and its accent", () => {
    const name = "Żółć & Söhne – Ελλάς, ООО «Ромашка», Việt Nam ½ №1 ™ €";
    expect(readParty({ ...party, name }, "buyer").name).toBe(name);
    expect(readParty({ ...party, name: "Cafe\u0301" }, "buyer").name).toBe("Caf\u00e9");
  });

  it("is printed with marks in place of characters that the fonts lack, and with an address of its account", () => {
    const old = { name: "株式 PT 🎉", address: "東京 1", npwp: party.npwp };
    expect(printedParty(old, "a@example.com")).toEqual({
      name: "?? PT ?",
      address: "a@example.com\n?? 1",
      npwp: party.npwp,
    });
    expect(printedParty(party, "a@example.com")).toEqual(party);
  });

  it("has an NPWP that is written in groups", () => {
    expect(npwpText("012345678901000")).toBe("01.234.567.8-901.000");
    expect(npwpText("0012345678901000")).toBe("0012 3456 7890 1000");
  });
});
