// The page of alerts in the browser: what is notified, the webhook with its secret shown once, and what became of a post.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDashboard, type Dashboard } from "./open-dashboard.ts";
import { CallbackReceiver } from "../merchant/callback-receiver.ts";

const SETTINGS = `
SELECT daily_spend::text AS "dailySpend", percents, mail_types AS mails, webhook_types AS posts FROM alert_settings`;
/** An alert as the background job writes it, for the demo's account. */
const MAKE_ALERT = `
WITH made AS (
  INSERT INTO alert_event (id, account_id, type, crossing, percent, data)
  SELECT new_uuidv7(), account_id, 'usage.daily', 'usage.daily:test', 80,
    '{"day": "2026-11-26", "percent": 80, "dailySpend": "100000000", "spent": "80000000"}' FROM alert_settings
  RETURNING id, account_id, created_at
)
INSERT INTO webhook_delivery (event_id, event_at, account_id, next_attempt_at, give_up_at)
SELECT id, created_at, account_id, created_at, created_at + interval '3 days' FROM made`;

describe("the page of alerts", () => {
  let dashboard: Dashboard;
  let page: Page;
  let receiver: CallbackReceiver;
  beforeAll(async () => {
    receiver = await CallbackReceiver.listen();
    dashboard = await openDashboard({ SALDO_CALLBACKS_TO_LOOPBACK: "1" });
    ({ page } = await dashboard.visitDemo("/alerts"));
  });
  afterAll(async () => {
    await dashboard.close();
    await receiver.close();
  });

  const rows = async (sql: string): Promise<unknown[]> => (await dashboard.database.database.pool.query(sql)).rows;
  const check = (name: string) => page.getByRole("checkbox", { name, exact: true }).check();

  it("sets what is notified, and shows it again", async () => {
    await page.getByLabel("Pemakaian harian dalam rupiah").fill("100.000,25");
    for (const percent of ["80 %", "100 %"]) await check(percent);
    await check("E-mail: Anggaran kunci terpakai");
    for (const name of ["Saldo menipis", "Pemakaian harian tercapai", "Isi ulang berhasil"])
      await check(`Webhook: ${name}`);
    await page.getByRole("button", { name: "Simpan", exact: true }).first().click();
    await page.getByText("Peringatan disimpan").waitFor();
    expect(await rows(SETTINGS)).toEqual([
      {
        dailySpend: "100000250000",
        percents: [80, 100],
        mails: ["key.budget_reached"],
        posts: ["balance.low", "top_up.succeeded", "usage.daily"],
      },
    ]);
    await page.reload();
    await expect.poll(() => page.getByLabel("Pemakaian harian dalam rupiah").inputValue()).toBe("100000.25");
    expect(await page.getByRole("checkbox", { name: "80 %" }).isChecked()).toBe(true);
    expect(await page.getByRole("checkbox", { name: "50 %" }).isChecked()).toBe(false);
  });

  it("refuses an address of a private network with the reason", async () => {
    await page.getByLabel("Alamat webhook").fill("https://10.0.0.1/hook");
    await page.getByRole("button", { name: "Simpan webhook" }).click();
    await page.getByText("harus alamat di internet publik").waitFor();
    expect(await rows("SELECT FROM webhook_settings")).toEqual([]);
  });

  it("shows the secret once, and another one when it is renewed", async () => {
    await page.getByLabel("Alamat webhook").fill(receiver.url);
    await page.getByRole("button", { name: "Simpan webhook" }).click();
    const dialog = page.getByRole("dialog", { name: "Simpan ini sekarang" });
    const first = await dialog.getByText(/^cs_/).textContent();
    await dialog.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.getByText(`…${first?.slice(-4)}`).waitFor();
    await page.getByRole("button", { name: "Ganti rahasia" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Ganti rahasia" }).click();
    const second = await dialog.getByText(/^cs_/).textContent();
    expect(second).not.toBe(first);
    await dialog.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.getByText(`…${second?.slice(-4)}`).waitFor();
    expect(await page.getByText(second ?? "").count()).toBe(0);
  });

  it("lists what was posted with its result, and posts it again", async () => {
    await dashboard.changeRows(MAKE_ALERT);
    const row = page.getByRole("row").filter({ hasText: "usage.daily" }).filter({ hasText: "HTTP 200" });
    await row.getByText("Diterima").waitFor({ timeout: 60_000 });
    await row.getByRole("button", { name: "Kirim ulang usage.daily" }).click();
    await page.getByText("Dikirim ulang sekarang").waitFor();
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(2);
    expect(JSON.parse(receiver.received[0]?.body ?? "{}")).toMatchObject({
      type: "usage.daily",
      data: { dailySpend: "100", spent: "80", percent: 80 },
    });
  });

  it("names in both languages why an attempt failed and why a post was given up", async () => {
    receiver.behave = (response) => void response.writeHead(503).end("busy");
    await dashboard.changeRows(MAKE_ALERT.replace("usage.daily:test", "usage.daily:refused"));
    const sent = receiver.received.length;
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(sent + 1);
    const recorded = () => rows("SELECT FROM webhook_attempt WHERE http_status = 503");
    await expect.poll(recorded, { timeout: 60_000 }).toHaveLength(1);
    await page.reload();
    const row = page.getByRole("row").filter({ hasText: "HTTP 503" });
    await row.getByText('Server Anda menolak: "busy"').waitFor({ timeout: 60_000 });
    await page.getByLabel("Alamat webhook").fill("");
    await page.getByRole("button", { name: "Simpan webhook" }).click();
    await page.getByText("Webhook disimpan").waitFor();
    await page.reload();
    await row.getByText("Pengiriman dinonaktifkan.").waitFor({ timeout: 60_000 });
    await page.evaluate(() => localStorage.setItem("saldo.language", "en"));
    await page.reload();
    await row.getByText('Your server refused it: "busy"').waitFor();
    await row.getByText("Deliveries were turned off.").waitFor();
  });
});
