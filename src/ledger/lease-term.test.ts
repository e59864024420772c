import { expect, it } from "vitest";
import { LeaseTerm } from "./lease-term.ts";

it("ends its requests once, when it is asked after a lapse", () => {
  const clock = { hasLapsed: false };
  const term = new LeaseTerm(() => clock.hasLapsed);
  const ended: string[] = [];
  term.whenOver(() => ended.push("first"));
  const leave = term.whenOver(() => ended.push("second"));
  leave();
  expect(term.isOver()).toBe(false);
  clock.hasLapsed = true;
  expect(ended).toEqual([]);
  expect(term.isOver()).toBe(true);
  expect(ended).toEqual(["first"]);
  // It stays over, whatever the clock shows later, and ends late requests at once.
  clock.hasLapsed = false;
  expect(term.isOver()).toBe(true);
  term.whenOver(() => ended.push("third"));
  term.end();
  expect(ended).toEqual(["first", "third"]);
});

it("can be ended by the lease", () => {
  const term = new LeaseTerm(() => false);
  let ended = 0;
  term.whenOver(() => (ended += 1));
  term.end();
  expect([term.isOver(), ended]).toEqual([true, 1]);
});
