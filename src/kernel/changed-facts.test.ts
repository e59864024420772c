import { expect, it } from "vitest";
import { changedFacts } from "./changed-facts.ts";

it("has what differs, as it is and as it was, and nothing else", () => {
  expect(changedFacts({ a: "1", b: "2", c: "3" }, { a: "1", b: "4", d: "5" })).toEqual({
    b: "4",
    "before.b": "2",
    "before.c": "3",
    d: "5",
  });
  expect(changedFacts({ a: undefined }, { a: "1" })).toEqual({ a: "1" });
  expect(changedFacts({ a: "1" }, { a: "1" })).toEqual({});
});

it("has all of what belongs together where a part differs", () => {
  expect(changedFacts({ a: "1", b: "2", c: "3" }, { a: "1", b: "4", c: "3" }, ["a", "b"])).toEqual({
    a: "1",
    "before.a": "1",
    b: "4",
    "before.b": "2",
  });
  expect(changedFacts({ a: "1", b: "2" }, { a: "1", b: "2" }, ["a", "b"])).toEqual({});
});
