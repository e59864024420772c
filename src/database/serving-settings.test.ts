import { expect, test } from "vitest";
import { borrowServingRole } from "./connections.ts";
import { servingOptions } from "./serving-settings.ts";

test("a start-up packet takes the serving role and keeps a value with a space in one piece", () => {
  expect(servingOptions()).toContain("-c role=saldo_serve ");
  expect(servingOptions()).toContain("-c default_transaction_isolation=read\\ committed ");
});

test("a borrowed login keeps the URL and its own options", () => {
  const borrowed = borrowServingRole("postgres://u:p@db.example:5433/saldo?sslmode=require&options=-c%20jit%3Don");
  const url = new URL(borrowed);
  expect(url.host).toBe("db.example:5433");
  expect(url.searchParams.get("sslmode")).toBe("require");
  // The last one counts, for the driver as well as for a setting that is given twice.
  expect(url.searchParams.getAll("options").at(-1)).toBe(`-c jit=on ${servingOptions()}`);
});
