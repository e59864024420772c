import { expect, test } from "vitest";
import { formatsOf } from "../i18n/format.ts";
import { scaleOf } from "./chart-scale.ts";

const { tick } = formatsOf("id");

test.each([
  { most: 0, ticks: ["0"] },
  { most: 0.18, ticks: ["0", "0,05", "0,1", "0,15", "0,2"] },
  { most: 0.9, ticks: ["0", "0,5", "1"] },
  { most: 1, ticks: ["0", "0,5", "1"] },
  { most: 1, whole: true, ticks: ["0", "1"] },
  { most: 3, whole: true, ticks: ["0", "1", "2", "3"] },
  { most: 9, whole: true, ticks: ["0", "5", "10"] },
  { most: 12_400, ticks: ["0", "5\u00a0rb", "10\u00a0rb", "15\u00a0rb"] },
  { most: 5_800_000, ticks: ["0", "2\u00a0jt", "4\u00a0jt", "6\u00a0jt"] },
])("a chart of at most $most has exact lines", ({ most, whole, ticks }) => {
  const scale = scaleOf(most, whole);
  expect(scale.at(-1)).toBeGreaterThanOrEqual(most);
  expect(scale.map(tick)).toEqual(ticks);
});
