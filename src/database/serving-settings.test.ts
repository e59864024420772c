import { expect, test } from "vitest";
import { borrowServingRole } from "./connections.ts";
import { servingOptions } from "./serving-settings.ts";

test("a start-up packet takes the serving role and keeps a value with a space in one piece", () => {
  expect(servingOptions(150_000)).toContain("-c role=saldo_serve ");
  expect(servingOptions(150_000)).toContain("-c default_transaction_isolation=read\\ committed ");
});

test("transactions have an end on servers that know the setting; older ones would refuse the connection for it", () => {
  expect(servingOptions(169_999)).not.toContain("transaction_timeout");
  expect(servingOptions(170_000)).toContain("-c transaction_timeout=15min");
  for (const version of [150_000, 170_000]) {
    expect(servingOptions(version)).toContain("-c idle_in_transaction_session_timeout=30s");
  }
});

test("a borrowed login keeps the URL and its own options", () => {
  const borrowed = borrowServingRole(
    "postgres://u:p@db.example:5433/saldo?sslmode=require&options=-c%20jit%3Don",
    180_000,
  );
  const url = new URL(borrowed);
  expect(url.host).toBe("db.example:5433");
  expect(url.searchParams.get("sslmode")).toBe("require");
  // The last one counts, for the driver as well as for a setting that is given twice.
  expect(url.searchParams.getAll("options").at(-1)).toBe(`-c jit=on ${servingOptions(180_000)}`);
});
