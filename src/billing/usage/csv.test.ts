import { describe, expect, it } from "vitest";
import { csvLine } from "./csv.ts";

describe("csvLine", () => {
  it("puts into quotes what holds a comma, a quote or a line end, and doubles quotes", () => {
    expect(csvLine(["a,b", 'a "x"', "two\r\nlines", " x", "plain/x:y"])).toBe(
      '"a,b","a ""x""","two\r\nlines"," x",plain/x:y\r\n',
    );
  });

  it("writes numbers as they are, also below zero", () => {
    expect(csvLine([1, -2n, "-0.000001", "1234567890.123456", true, ""])).toBe(
      "1,-2,-0.000001,1234567890.123456,true,\r\n",
    );
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["+cmd", "'+cmd"],
    ["-2+3", "'-2+3"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ["\t=1", '"\'\t=1"'],
    ["\r=1", '"\'\r=1"'],
    ["  =1", "'  =1"],
    ["\ufeff=1", "'\ufeff=1"],
    ["\uff1d1", "'\uff1d1"],
    ["|calc", "'|calc"],
  ])("makes a text of %j, which a spreadsheet would run", (text, written) => {
    expect(csvLine([text])).toBe(`${written}\r\n`);
  });
});
