import { describe, expect, it } from "vitest";
import { csvFile, RECORDS_PER_PIECE } from "./csv-file.ts";

/** A file of so many numbers, and the numbers behind which it was read on. */
async function fileOf(count: number, signal?: AbortSignal) {
  const asked: (number | undefined)[] = [];
  const pieces = csvFile({
    columns: ["number"],
    fieldsOf: (row: number) => [row],
    readAfter: async (last) => {
      asked.push(last);
      const first = last === undefined ? 0 : last + 1;
      return Array.from({ length: Math.min(RECORDS_PER_PIECE, count - first) }, (_, index) => first + index);
    },
    signal,
  });
  const text = (await Array.fromAsync(pieces)).join("");
  return { lines: text.split("\r\n").slice(0, -1), asked };
}

describe("csvFile", () => {
  it.each([0, 1, RECORDS_PER_PIECE - 1, RECORDS_PER_PIECE, RECORDS_PER_PIECE + 1, 2 * RECORDS_PER_PIECE])(
    "has each of %i records once and in order, below the names of the columns",
    async (count) => {
      const { lines } = await fileOf(count);
      expect(lines).toEqual(["number", ...Array.from({ length: count }, (_, index) => String(index))]);
    },
  );

  it("reads on behind the last record of a full page, and no further than a page that is not full", async () => {
    expect((await fileOf(RECORDS_PER_PIECE + 1)).asked).toEqual([undefined, RECORDS_PER_PIECE - 1]);
  });

  it("reads nothing for a client that has left", async () => {
    await expect(fileOf(1, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
  });
});
