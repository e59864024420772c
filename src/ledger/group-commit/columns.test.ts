import * as fc from "fast-check";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { columnsOf } from "./columns.ts";

const TEXT_ARRAY: number = 1009;
const parseTextArray = pg.types.getTypeParser(TEXT_ARRAY, "text") as (literal: string) => (string | null)[];

describe("columnsOf", () => {
  it("turns rows into one literal per column", () => {
    const rows = [
      ["01a0", 1, null, true],
      ["01a1", 2n, "x", false],
    ];
    expect(columnsOf(rows)).toEqual(["{01a0,01a1}", "{1,2}", "{NULL,x}", "{true,false}"]);
  });

  it("reads back as the same texts, whatever characters they contain", () => {
    const texts = fc.array(
      fc.option(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("null", "NULL", "", "{}", 'a"b\\c,d'))),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(texts, (column) => {
        const [literal = ""] = columnsOf(column.map((text) => [text]));
        expect(parseTextArray(literal)).toEqual(column);
      }),
      { numRuns: 2_000 },
    );
  });
});
