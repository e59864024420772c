import { expect, it } from "vitest";
import { CallStarts } from "./call-starts.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("starts the first calls at once and the others in their order, fifty in a turn", async () => {
  const starts = new CallStarts();
  const started: number[] = [];
  for (let call = 0; call < 120; call += 1) starts.start(() => started.push(call));
  expect(started).toHaveLength(50);
  await turn();
  expect(started).toHaveLength(100);
  // One that comes now waits behind those that came before.
  starts.start(() => started.push(120));
  await turn();
  expect(started).toEqual(Array.from({ length: 121 }, (_, call) => call));
  await turn();
  starts.start(() => started.push(121));
  expect(started.at(-1)).toBe(121);
});
