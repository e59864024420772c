// The form shows the tax that the service computes.

import { expect, it } from "vitest";
import { taxedAmountOf } from "../../src/billing/receipts/tax.ts";
import { taxedAmount } from "../../src/dashboard/pages/billing/taxed-amount.ts";

const RUPIAH = 1_000_000n;

it.each([
  ["0", 0],
  ["11", 1100],
  ["12", 1200],
  ["2.5", 250],
  ["0.01", 1],
  ["11.75", 1175],
  ["100", 10_000],
])("at %s %%, added and included", (percent, rate) => {
  for (const included of [false, true])
    for (let ordered = 10_000n; ordered < 1_000_000_000n; ordered = ordered * 2n + 13n) {
      const { net, tax } = taxedAmountOf(ordered * RUPIAH, { rate, isIncluded: included });
      expect(taxedAmount(String(ordered), { percent, included })).toEqual({
        net: String(net / RUPIAH),
        tax: String(tax / RUPIAH),
        total: String((net + tax) / RUPIAH),
      });
    }
});

it("adds nothing until the tax is known", () => {
  expect(taxedAmount("50000", null)).toEqual({ net: "50000", tax: "0", total: "50000" });
});
