// Automatic top-ups in the browser: a card is saved at the sandbox's page, charged while the balance is low, and removed.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saldoJson } from "../setup/saldo-command.ts";
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
      history: "Riwayat pengisian saldo",
      automatic: "Isi saldo otomatis",
      remove: "Hapus metode",
      none: "Belum ada metode tersimpan.",
      automaticAbout: "Isi saldo otomatis dari metode pembayaran tersimpan Anda.",
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
      history: "Top-ups",
      automatic: "Automatic top-up",
      remove: "Remove the method",
      none: "No method is saved yet.",
      automaticAbout: "An automatic top-up from your saved payment method.",
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

      const history = page.getByRole("table", { name: words.history });
      expect(await history.getByRole("row").filter({ hasText: words.automatic }).count()).toBe(1);
      await history.getByRole("row").filter({ hasText: words.automatic }).getByRole("button").click();
      await page.waitForURL(/topUp=/);
      await page.getByText(words.automaticAbout).waitFor();
      await page.goto(`${httpUrl}/billing`);

      await page.getByRole("button", { name: words.remove }).click();
      await page.getByText(words.none).waitFor();
      await context.close();
      expectNoComplaints(dashboard);
    },
    240_000,
  );

  it.each([
    {
      language: "id",
      width: 1280,
      paid: "Bayar Rp 55.500 (Rp 50.000 dan PPN Rp 5.500) di halaman penyedia.",
      hint: "Setiap tagihan Rp 111.000; Rp 100.000 masuk ke saldo.",
      cap: "Maksimal per bulan",
      settings: "Simpan pengaturan",
      refusal: "Minimal Rp 111.000, tagihan sekali isi ulang.",
    },
    {
      language: "en",
      width: 360,
      paid: "Pay Rp 55,500 (Rp 50,000 and VAT of Rp 5,500) on the provider's page.",
      hint: "Each charge is Rp 111,000; Rp 100,000 is added to the balance.",
      cap: "Most in a month",
      settings: "Save settings",
      refusal: "At least Rp 111,000, one charge of a top-up.",
    },
  ])(
    "shows what is charged where tax is added, and refuses a cap below it at its field: $language, $width px",
    async ({ language, width, paid, hint, cap, settings, refusal }) => {
      const command = { DATABASE_URL: dashboard.database.url };
      const seller = ["--name", "PT Penjual", "--npwp", "0012345678901000", "--reason", "test"];
      await saldoJson(["settings", "seller", ...seller], command);
      await saldoJson(["settings", "tax", "--percent", "11", "--reason", "test"], command);
      const { page, context } = await dashboard.signUp();
      const withSpaces = (text: string) => text.replaceAll("Rp ", "Rp\u00a0");
      await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${dashboard.saldo.httpUrl}/billing`);
      await page.getByText(withSpaces(paid)).waitFor();
      await page.getByText(withSpaces(hint)).waitFor();
      const field = page.getByLabel(cap, { exact: true });
      await field.fill("110999");
      await page.getByRole("button", { name: settings }).click();
      await page.getByText(withSpaces(refusal)).waitFor();
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      await field.fill("111000");
      await page.getByText(withSpaces(refusal)).waitFor({ state: "detached" });
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
      await context.close();
      expectNoComplaints(dashboard);
    },
    120_000,
  );
});
