import { expect, it } from "vitest";
import { Slots } from "./slots.ts";

it("keeps what was added until it is removed, and uses the slots of removed items again", () => {
  const slots = new Slots<string>();
  const removeFirst = slots.add("first");
  slots.add("second");
  expect([slots.values(), slots.size]).toEqual([["first", "second"], 2]);
  removeFirst();
  expect([slots.values(), slots.size]).toEqual([["second"], 1]);
  slots.add("third");
  expect(slots.values()).toEqual(["third", "second"]);
  // The slot is another item's now.
  removeFirst();
  expect([slots.values(), slots.size]).toEqual([["third", "second"], 2]);
});

it("does not grow while items come and go", () => {
  const slots = new Slots<{ readonly id: number }>();
  for (let id = 0; id < 1_000; id += 1) slots.add({ id })();
  slots.add({ id: 1_000 });
  expect(slots.values()).toEqual([{ id: 1_000 }]);
  expect(slots.size).toBe(1);
});
