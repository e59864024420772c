import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";
import { MAX_ATTEMPTS, isDatabaseAway, sqlState, withRetry } from "./transactions.ts";

function raised(code: string): DatabaseError {
  return Object.assign(new DatabaseError("raised by PostgreSQL", 20, "error"), { severity: "ERROR", code });
}

function failing(times: number, error: Error): { runs: () => number; work: () => Promise<string> } {
  let runs = 0;
  return {
    runs: () => runs,
    work: async () => {
      runs += 1;
      if (runs <= times) throw error;
      return "done";
    },
  };
}

describe("withRetry", () => {
  test.each(["40001", "40P01"])("runs again after %s", async (code) => {
    const { work, runs } = failing(2, raised(code));
    expect(await withRetry(work, () => 0)).toBe("done");
    expect(runs()).toBe(3);
  });

  test("gives up after a bounded number of attempts, with the last error", async () => {
    const error = raised("40P01");
    const { work, runs } = failing(MAX_ATTEMPTS, error);
    await expect(withRetry(work, () => 0)).rejects.toBe(error);
    expect(runs()).toBe(MAX_ATTEMPTS);
  });

  test.each(["23505", "55P03", "57P01"])("leaves %s to its caller", async (code) => {
    const { work, runs } = failing(1, raised(code));
    await expect(withRetry(work)).rejects.toThrow("raised by PostgreSQL");
    expect(runs()).toBe(1);
  });
});

describe("isDatabaseAway", () => {
  test.each(["57P01", "57P02", "57P03", "08006", "08P01", "53300", "25006", "25P03", "25P04"])(
    "is true for SQLSTATE %s",
    (code) => {
      expect(isDatabaseAway(raised(code))).toBe(true);
    },
  );

  test.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"])("is true for %s", (code) => {
    expect(isDatabaseAway(Object.assign(new Error("socket"), { code }))).toBe(true);
  });

  test("is true for a missing socket, and not for a missing file", () => {
    expect(isDatabaseAway(Object.assign(new Error("x"), { code: "ENOENT", syscall: "connect" }))).toBe(true);
    expect(isDatabaseAway(Object.assign(new Error("x"), { code: "ENOENT", syscall: "open" }))).toBe(false);
  });

  test("is true for several refused addresses, and for an error that one of these caused", () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    expect(isDatabaseAway(new AggregateError([refused]))).toBe(true);
    expect(isDatabaseAway(new Error("could not admit", { cause: refused }))).toBe(true);
  });

  test.each(["23514", "40001", "42501", "55P03", "57014"])("is false for SQLSTATE %s", (code) => {
    expect(isDatabaseAway(raised(code))).toBe(false);
  });

  test("is false for a bug of ours", () => {
    expect(isDatabaseAway(new TypeError("undefined is not a function"))).toBe(false);
    expect(isDatabaseAway("nothing")).toBe(false);
  });
});

test("an operating system's code of five letters is no SQLSTATE", () => {
  expect(sqlState(Object.assign(new Error("socket"), { code: "EPIPE" }))).toBeUndefined();
});
