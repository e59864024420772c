// The page of alerts in the browser: what is notified, the webhook with its secret shown once, and what became of a post.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
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

const TEXTS = {
  id: {
    dailySpend: "Pemakaian harian dalam rupiah",
    typed: "100.000,25",
    mailOfKeys: "E-mail: Anggaran kunci terpakai",
    posts: ["Webhook: Saldo menipis", "Webhook: Pemakaian harian tercapai", "Webhook: Isi ulang berhasil"],
    save: "Simpan",
    saved: "Peringatan disimpan",
    address: "Alamat webhook",
    saveWebhook: "Simpan webhook",
    savedWebhook: "Webhook disimpan",
    notPublic: "harus alamat di internet publik",
    once: "Simpan ini sekarang",
    kept: "Sudah saya simpan",
    renew: "Ganti rahasia",
    delivered: "Diterima",
    resend: "Kirim ulang usage.daily",
    resent: "Dikirim ulang sekarang",
    refused: 'Server Anda menolak: "busy"',
    turnedOff: "Pengiriman dinonaktifkan.",
  },
  en: {
    dailySpend: "Daily spend in rupiah",
    typed: "100000.25",
    mailOfKeys: "Mail: Budget of a key is used",
    posts: ["Webhook: Balance is low", "Webhook: Daily spend is reached", "Webhook: Top-up succeeded"],
    save: "Save",
    saved: "Alerts saved",
    address: "Webhook address",
    saveWebhook: "Save webhook",
    savedWebhook: "Webhook saved",
    notPublic: "must be an address of the public internet",
    once: "Keep this now",
    kept: "I have saved it",
    renew: "Renew secret",
    delivered: "Delivered",
    resend: "Send usage.daily again",
    resent: "Being sent again now",
    refused: 'Your server refused it: "busy"',
    turnedOff: "Deliveries were turned off.",
  },
} as const;

describe.each(["id", "en"] as const)("the page of alerts (%s)", (language) => {
  const texts = TEXTS[language];
  let dashboard: Dashboard;
  let page: Page;
  let receiver: CallbackReceiver;
  beforeAll(async () => {
    receiver = await CallbackReceiver.listen();
    dashboard = await openDashboard({ SALDO_CALLBACKS_TO_LOOPBACK: "1" });
    ({ page } = await dashboard.visitDemo("/alerts", { locale: language === "id" ? "id-ID" : "en-GB" }));
  });
  afterAll(async () => {
    await dashboard.close();
    await receiver.close();
  });

  const rows = async (sql: string): Promise<unknown[]> => (await dashboard.database.database.pool.query(sql)).rows;
  const check = (name: string) => page.getByRole("checkbox", { name, exact: true }).check();

  it("sets what is notified, and shows it again", async () => {
    await page.getByLabel(texts.dailySpend).fill(texts.typed);
    for (const percent of ["80 %", "100 %"]) await check(percent);
    await check(texts.mailOfKeys);
    for (const name of texts.posts) await check(name);
    await page.getByRole("button", { name: texts.save, exact: true }).first().click();
    await page.getByText(texts.saved).waitFor();
    expect(await rows(SETTINGS)).toEqual([
      {
        dailySpend: "100000250000",
        percents: [80, 100],
        mails: ["key.budget_reached"],
        posts: ["balance.low", "top_up.succeeded", "usage.daily"],
      },
    ]);
    await page.reload();
    await expect.poll(() => page.getByLabel(texts.dailySpend).inputValue()).toBe("100000.25");
    expect(await page.getByRole("checkbox", { name: "80 %" }).isChecked()).toBe(true);
    expect(await page.getByRole("checkbox", { name: "50 %" }).isChecked()).toBe(false);
  });

  it("refuses an address of a private network with the reason", async () => {
    await page.getByLabel(texts.address).fill("https://10.0.0.1/hook");
    await page.getByRole("button", { name: texts.saveWebhook }).click();
    await page.getByText(texts.notPublic).waitFor();
    expect(await rows("SELECT FROM webhook_settings")).toEqual([]);
  });

  it("shows the secret once, and another one when it is renewed", async () => {
    await page.getByLabel(texts.address).fill(receiver.url);
    await page.getByRole("button", { name: texts.saveWebhook }).click();
    const dialog = page.getByRole("dialog", { name: texts.once });
    const first = await dialog.getByText(/^cs_/).textContent();
    await dialog.getByRole("button", { name: texts.kept }).click();
    await page.getByText(`…${first?.slice(-4)}`).waitFor();
    await page.getByRole("button", { name: texts.renew }).click();
    await page.getByRole("dialog").getByRole("button", { name: texts.renew }).click();
    const second = await dialog.getByText(/^cs_/).textContent();
    expect(second).not.toBe(first);
    await dialog.getByRole("button", { name: texts.kept }).click();
    await page.getByText(`…${second?.slice(-4)}`).waitFor();
    expect(await page.getByText(second ?? "").count()).toBe(0);
  });

  it("lists what was posted with its result, and posts it again", async () => {
    await dashboard.changeRows(MAKE_ALERT);
    const row = page.getByRole("row").filter({ hasText: "usage.daily" }).filter({ hasText: "HTTP 200" });
    await row.getByText(texts.delivered).waitFor({ timeout: 60_000 });
    await row.getByRole("button", { name: texts.resend }).click();
    await page.getByText(texts.resent).waitFor();
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(2);
    expect(JSON.parse(receiver.received[0]?.body ?? "{}")).toMatchObject({
      type: "usage.daily",
      data: { dailySpend: "100", spent: "80", percent: 80 },
    });
  });

  it("names why an attempt failed and why a post was given up", async () => {
    receiver.behave = (response) => void response.writeHead(503).end("busy");
    await dashboard.changeRows(MAKE_ALERT.replace("usage.daily:test", "usage.daily:refused"));
    const sent = receiver.received.length;
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(sent + 1);
    const recorded = () => rows("SELECT FROM webhook_attempt WHERE http_status = 503");
    await expect.poll(recorded, { timeout: 60_000 }).toHaveLength(1);
    await page.reload();
    const row = page.getByRole("row").filter({ hasText: "HTTP 503" });
    await row.getByText(texts.refused).waitFor({ timeout: 60_000 });
    await page.getByLabel(texts.address).fill("");
    await page.getByRole("button", { name: texts.saveWebhook }).click();
    await page.getByText(texts.savedWebhook).waitFor();
    await page.reload();
    await row.getByText(texts.turnedOff).waitFor({ timeout: 60_000 });
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expectNoComplaints(dashboard);
  });
});
