// Operators see people and not ids: lists name the owners of accounts, and are filtered by their e-mail addresses. And their first page.

import { createClient } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BillingService } from "../../src/client/client.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOperatorClient } from "../setup/operator-client.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { callsOf } from "./session-calls.ts";

describe("operators' lists", () => {
  let dashboard: Dashboard;
  let page: Page;
  let other: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const demo = await dashboard.visitDemo("/settings");
    ({ page } = demo);
    await order(await callsOf(dashboard, demo), "25000");
    const customer = await dashboard.signUp();
    other = customer.email;
    await order(await callsOf(dashboard, customer), "40000");
    await createOperatorClient(await callsOf(dashboard, demo)).stopPayouts({ chain: "bsc", reason: "test" });
  });
  afterAll(() => dashboard.close());

  const order = (session: Awaited<ReturnType<typeof callsOf>>, amount: string) =>
    createClient(BillingService, session).createTopUp({ amount, idempotencyKey: uuidv7() });
  const open = (path: string) => page.goto(dashboard.saldo.httpUrl + path);
  const rows = () => page.getByRole("row").filter({ hasText: "Rp" });

  it("name accounts by their owners, all of a page in one call", async () => {
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("AccountService/NameAccounts")) calls.push(request.url());
    });
    await open("/operator/top-ups");
    await expect.poll(() => rows().count()).toBe(2);
    await expect.poll(() => page.getByRole("cell", { name: other, exact: true }).count()).toBe(1);
    expect(await page.getByRole("cell", { name: "demo@saldo.example", exact: true }).count()).toBe(1);
    expect(calls).toHaveLength(1);
  });

  it("are filtered by an e-mail address in any case, and show that no account has one", async () => {
    const account = page.getByLabel("Akun (e-mail atau ID)");
    await account.fill(other.toUpperCase());
    await page.getByRole("button", { name: "Cari" }).click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(await rows().first().textContent()).toContain("40.000");
    // Its text is in the address, so the same list can be opened by a link.
    expect(new URL(page.url()).searchParams.get("account")).toBe(other.toUpperCase());
    await page.reload();
    await expect.poll(() => rows().count()).toBe(1);
    await account.fill("nobody@saldo.example");
    await page.getByRole("button", { name: "Cari" }).click();
    await page.getByText("Tidak ada akun dengan e-mail ini").waitFor();
    expect(await rows().count()).toBe(0);
    // A text that is neither is refused by the form.
    await account.fill("nobody");
    await page.getByRole("button", { name: "Cari" }).click();
    expect(await page.evaluate("document.querySelector('[name=account]').validity.patternMismatch")).toBe(true);
  });

  it("begin with an overview whose counts lead to their lists", async () => {
    await open("/operator");
    await page.getByRole("heading", { name: "Ringkasan operator" }).waitFor();
    await page.getByText("Tanpa permintaan").waitFor();
    await expect.poll(() => page.getByTestId("money-in-today").textContent()).toBe("Rp\u00a00");
    await page.getByRole("link", { name: /1 Penghentian pembayaran yang berlaku/ }).click();
    await page.getByRole("heading", { name: "Transfer", exact: true }).waitFor();
    const trail = page.getByRole("navigation", { name: "Lokasi" });
    await expect.poll(() => trail.textContent()).toBe("PengelolaanOperatorTransfer");
    await trail.getByRole("link", { name: "Operator" }).click();
    await page.getByRole("heading", { name: "Ringkasan operator" }).waitFor();
    expectNoComplaints(dashboard);
  });
});
