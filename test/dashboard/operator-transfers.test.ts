// An operator approves one transfer, rejects another and resumes a stopped wallet, in the browser: with a reason and a
// review, once; a rejected transfer's hold is released.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import { listBalances } from "../../src/merchant/merchants/merchants.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { expectSoundBooks } from "../merchant/payouts/ordered.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { orderSeededTransfers, stopSandboxWallet } from "./waiting-transfers.ts";

/** Shown as it is, whatever it looks like. */
const EXTERNAL_ID = "<b>inv/1:a.b</b>";
const REASON = "<i>tidak dikenal</i>";

describe("transfers that wait for an operator", () => {
  let dashboard: Dashboard;
  let page: Page;
  let merchantId: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { database } = dashboard.database;
    ({ merchantId } = await orderSeededTransfers(database));
    await stopSandboxWallet(database);
    const order = { merchantId, externalId: EXTERNAL_ID, currencyCode: "BTC", amountText: "0.03" };
    await orderTransfer(database, { ...order, address: "bitcoin:receiver" });
    ({ page } = await dashboard.visitDemo("/operator/transfers?approval=yes"));
  });
  afterAll(() => dashboard.close());

  const table = () => page.getByRole("table", { name: "Daftar transfer" });
  const status = () => page.getByTestId("transfer-status");
  const heldOfBitcoin = async () =>
    (await listBalances(dashboard.database.database, merchantId)).find(({ currencyCode }) => currencyCode === "BTC")
      ?.held;

  /** Opens the transfer and goes on to the review. */
  async function decide(externalId: string, { press, reason }: { press: string; reason: string }): Promise<void> {
    await table().getByRole("button", { name: externalId }).click();
    await page.getByRole("button", { name: press }).click();
    await page.getByRole("textbox", { name: "Alasan" }).fill(reason);
    await page.getByRole("button", { name: "Periksa dulu" }).click();
  }

  it("are listed while they wait, are approved after a review, and are paid once the wallet resumes", async () => {
    await expect.poll(() => table().locator("tbody tr").count()).toBe(2);
    await decide("treasury-q4", { press: "Setujui…", reason: "sudah dikonfirmasi merchant" });
    expect(await page.getByTestId("command-amount").textContent()).toBe("0,025 BTC");
    await page.getByRole("button", { name: "Setujui transfer" }).click();
    await page.getByText("Sudah dijalankan").waitFor();
    await status().getByText("Diproses").waitFor();
    expect(await status().getByText("Perlu persetujuan").count()).toBe(0);

    await page.goto(`${dashboard.saldo.httpUrl}/operator/transfers?name=treasury-q4`);
    await page.getByRole("button", { name: "Lanjutkan…" }).click();
    await page.getByRole("textbox", { name: "Alasan" }).fill("itu kami sendiri");
    await page.getByRole("button", { name: "Periksa dulu" }).click();
    await page.getByRole("button", { name: "Lanjutkan dompet" }).click();
    await page.getByText("Dompet menandatangani lagi").waitFor();
    // It is in the row twice, once for narrow pages.
    await table().getByText("Terkonfirmasi").last().waitFor();
    expectNoComplaints(dashboard);
  });

  it("are rejected with a reason that the merchant reads, and their hold is released", async () => {
    await page.goto(`${dashboard.saldo.httpUrl}/operator/transfers?approval=yes`);
    await expect.poll(heldOfBitcoin).not.toBe("0");
    await decide(EXTERNAL_ID, { press: "Tolak…", reason: REASON });
    await page.getByRole("button", { name: "Tolak transfer" }).click();
    await status().getByText("Ditolak").waitFor();
    await page.getByRole("dialog").getByText(REASON).first().waitFor();
    await expect.poll(heldOfBitcoin).toBe("0");
    await page.getByRole("link", { name: "Log operator" }).last().click();
    await page.getByRole("table", { name: "Perintah operator" }).getByText(REASON).waitFor();
    const actions = await listActions(dashboard.database.database.pool, { limit: 50 });
    expect(actions.map(({ action }) => action).filter((action) => /^(transfer|payout)/.test(action))).toEqual([
      "transfer reject",
      "payout resume",
      "transfer approve",
    ]);
    await expectSoundBooks(dashboard.database.database);
    expectNoComplaints(dashboard);
  });
});
