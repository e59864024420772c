// Automatic top-ups in the browser: a card is saved at the sandbox's page, charged while the balance is low, and removed.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const CREDITED_WITHIN_MS = 90_000;

describe("automatic top-ups", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(() => dashboard.close());

  it.each([
    {
      language: "id",
      save: "Bayar dan simpan metode",
      pay: "Bayar",
      threshold: "Batas saldo",
      cap: "Maksimal per bulan",
      isOn: "Isi saldo otomatis aktif",
      settings: "Simpan pengaturan",
      saved: "Isi saldo otomatis disimpan",
      charged: "Bulan ini ditagih Rp 100.000",
      remove: "Hapus metode",
      none: "Belum ada metode tersimpan.",
    },
    {
      language: "en",
      save: "Pay and save the method",
      pay: "Bayar",
      threshold: "Threshold",
      cap: "Most in a month",
      isOn: "Automatic top-up is on",
      settings: "Save settings",
      saved: "Automatic top-up saved",
      charged: "Charged this month: Rp 100,000",
      remove: "Remove the method",
      none: "No method is saved yet.",
    },
  ])(
    "save a card, charge it up to the cap, and let go of it: $language",
    async (words) => {
      const { page, context } = await dashboard.signUp();
      const { httpUrl } = dashboard.saldo;
      await page.evaluate(`localStorage.setItem("saldo.language", "${words.language}")`);
      await page.goto(`${httpUrl}/billing`);
      await page.getByText(words.none).waitFor();
      expect(await page.getByRole("checkbox", { name: words.isOn }).isDisabled()).toBe(true);
      await page.getByRole("button", { name: words.save }).click();
      await page.getByRole("button", { name: words.pay, exact: true }).click();
      const isShown = async () => {
        await page.goto(`${httpUrl}/billing`);
        await page.getByRole("button", { name: words.settings }).waitFor();
        return page.getByText("Sandbox •••• 4242").count();
      };
      await expect.poll(isShown, { timeout: CREDITED_WITHIN_MS, interval: 1_000 }).toBe(1);

      await page.getByLabel(words.threshold, { exact: true }).fill("1000000");
      await page.getByLabel(words.cap, { exact: true }).fill("100000");
      await page.getByRole("checkbox", { name: words.isOn }).check();
      await page.getByRole("button", { name: words.settings }).click();
      await page.getByText(words.saved).waitFor();
      const balance = async () => {
        await page.reload();
        return (await page.getByTestId("available").textContent())?.replaceAll(/\D/g, "");
      };
      await expect.poll(balance, { timeout: CREDITED_WITHIN_MS, interval: 1_000 }).toBe("150000");
      await page.getByText(words.charged.replace("Rp ", "Rp\u00a0")).waitFor();

      await page.getByRole("button", { name: words.remove }).click();
      await page.getByText(words.none).waitFor();
      await context.close();
      expectNoComplaints(dashboard);
    },
    240_000,
  );
});
