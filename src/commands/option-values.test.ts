import { expect, it } from "vitest";
import { amountOption } from "./option-values.ts";
import { UsageError } from "./command.ts";

it.each([
  ["50000", 50_000_000_000n],
  ["0.125", 125_000n],
  ["50.0000", 50_000_000n],
  ["50.5", 50_500_000n],
  ["1234.567", 1_234_567_000n],
])("reads %s rupiah as %d millionths", (typed, units) => {
  expect(amountOption(typed)).toBe(units);
});

it.each(["50.000", "1.234", "999.999"])("refuses %s, which groups thousands in Indonesia", (typed) => {
  expect(() => amountOption(typed, "budget")).toThrow(UsageError);
  expect(() => amountOption(typed, "budget")).toThrow(
    `--budget ${typed}: write ${typed.replace(".", "")}, or ${typed}0`,
  );
});

it("reads 0 where it is a value of its own, and nothing below", () => {
  expect(amountOption("0", "budget", 0n)).toBe(0n);
  expect(() => amountOption("-1", "budget", 0n)).toThrow("--budget must be rupiah from 0 to 1000000000000");
});

it.each(["0", "-1", "1.000.000", "1,5", "", "0.0000001", "1000000000001"])("refuses %j", (typed) => {
  expect(() => amountOption(typed)).toThrow("must be rupiah greater than 0");
});
