import { describe, expect, it } from "vitest";
import { inOrder, nextOrder, readOrder } from "./order.ts";

type Row = { readonly name: string; readonly cost: bigint | undefined };
const ROWS: readonly Row[] = [
  { name: "b10", cost: 5n },
  { name: "B2", cost: undefined },
  { name: "a", cost: 12_345_678_901_234_567_890n },
  { name: "c", cost: 5n },
];
const COLUMNS = [
  { key: "name", value: ({ name }: Row) => name },
  { key: "cost", value: ({ cost }: Row) => cost },
  { key: "note" },
];
const names = (order: string | undefined) => inOrder(ROWS, COLUMNS, order).map(({ name }) => name);

describe("the order of a table", () => {
  it.each([
    [undefined, ["b10", "B2", "a", "c"]],
    ["name", ["a", "B2", "b10", "c"]],
    ["-name", ["c", "b10", "B2", "a"]],
    ["cost", ["b10", "c", "a", "B2"]],
    ["-cost", ["a", "b10", "c", "B2"]],
    ["note", ["b10", "B2", "a", "c"]],
    ["--cost", ["b10", "B2", "a", "c"]],
    ["constructor", ["b10", "B2", "a", "c"]],
  ])("of %s", (order, expected) => {
    expect(names(order)).toEqual(expected);
  });

  it("begins with the most of a number and the first of a text, turns, and ends", () => {
    expect(nextOrder(undefined, "cost", false)).toBe("-cost");
    expect(nextOrder("-cost", "cost", false)).toBe("cost");
    expect(nextOrder("cost", "cost", false)).toBeUndefined();
    expect(nextOrder("-cost", "name", true)).toBe("name");
    expect(nextOrder("name", "name", true)).toBe("-name");
    expect(nextOrder("-name", "name", true)).toBeUndefined();
  });

  it("is read from the address only for columns that can be sorted", () => {
    expect(readOrder("-cost", ["cost"])).toEqual({ key: "cost", isDown: true });
    expect(readOrder("cost", ["cost"])).toEqual({ key: "cost", isDown: false });
    expect(readOrder("-", ["cost"])).toBeNull();
    expect(readOrder(undefined, ["cost"])).toBeNull();
  });
});
