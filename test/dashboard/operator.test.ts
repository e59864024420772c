// An operator changes a price and an account, in the browser: the review shows the actual effect, which happens once,
// and changes that another operator made meanwhile are not undone unseen.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

/** Every node serves a new catalog within a minute. */
const SERVED_WITHIN_MS = 60_000;
const READS = /CatalogService\/GetCatalog\b/;

describe("the operator area", () => {
  let dashboard: Dashboard;
  let page: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = await dashboard.visitDemo("/operator/catalog?view=draft"));
  });
  afterAll(() => dashboard.close());

  /** The request arrives, and its answer is lost. */
  const loseAnswers = (calls: string) =>
    page.route(calls, async (route) => {
      await route.fetch();
      await route.abort();
    });
  const draftOf = (on: Page) => on.getByLabel("Katalog sebagai YAML");
  const compare = (on: Page) => on.getByRole("button", { name: "Lihat selisih harga" }).click();
  const confirmPublishing = async (on: Page) => {
    await on.getByRole("button", { name: "Terbitkan…" }).click();
    await on.getByRole("button", { name: "Terbitkan sekarang" }).click();
  };
  const untilPublished = async (on: Page) => {
    await on.getByText("Katalog diterbitkan").waitFor();
    await on.getByRole("button", { name: "Terbitkan sekarang" }).waitFor({ state: "hidden" });
  };
  const raise = async (on: Page, from: string, to: string) =>
    draftOf(on).fill((await draftOf(on).inputValue()).replace(`"${from}"`, `"${to}"`));

  it(
    "shows how much a price changes, and /v1/models has it within a minute",
    async () => {
      await raise(page, "4000", "4250.5");
      await compare(page);
      const row = page.getByRole("row", { name: /demo\/small/ });
      await expect.poll(() => row.textContent()).toContain("Rp\u00a04.250,50");
      expect(await row.textContent()).toContain("Rp\u00a0250,50");
      const readAgain = Promise.withResolvers<void>();
      await page.route(READS, async (route) => {
        await readAgain.promise;
        await route.fallback();
      });
      await confirmPublishing(page);
      await page.getByText("Katalog diterbitkan").waitFor();
      // Text typed now must not become a draft of the previous version.
      expect(await draftOf(page).inputValue()).toContain("4250.5");
      readAgain.resolve();
      await untilPublished(page);
      expect(await draftOf(page).inputValue()).toContain("4250.5");
      await page.unroute(READS);
      const served = async () => (await fetch(`${dashboard.saldo.httpUrl}/v1/models`, withKey(dashboard))).text();
      await expect.poll(served, { timeout: SERVED_WITHIN_MS, interval: 1_000 }).toContain("4250.5");
      expectNoComplaints(dashboard);
    },
    SERVED_WITHIN_MS + 60_000,
  );

  it("shows that another operator has published, and waits for a decision", async () => {
    await raise(page, "16000", "17000");
    await compare(page);
    await page.getByRole("button", { name: "Terbitkan…" }).waitFor();
    const other = await dashboard.visitDemo("/operator/catalog?view=draft");
    await raise(other.page, "80000", "81000");
    await compare(other.page);
    await confirmPublishing(other.page);
    await untilPublished(other.page);

    await confirmPublishing(page);
    const conflict = page.getByRole("alert").filter({ hasText: "Katalog sudah berubah" });
    await conflict.getByRole("link", { name: "Versi 2" }).waitFor();
    // The other operator's change would be undone: the difference shows it.
    const raised = page.getByRole("row", { name: /demo\/large/ });
    await expect.poll(() => raised.textContent()).toContain("Rp\u00a080.000");
    expect(await page.getByRole("button", { name: "Terbitkan…" }).count()).toBe(0);
    await page.getByRole("button", { name: /jadikan dasar versi 2/ }).click();
    await page.getByRole("button", { name: "Terbitkan…" }).waitFor();
    await other.context.close();
  });

  it("asks before a version replaces an unpublished draft", async () => {
    const written = await draftOf(page).inputValue();
    await page.getByText("Riwayat", { exact: true }).click();
    await page.getByRole("button", { name: "1", exact: true }).click();
    await page.getByRole("button", { name: "Jadikan draf" }).click();
    const question = page.getByRole("dialog", { name: "Ganti draf Anda?" });
    await question.getByRole("button", { name: "Batal" }).click();
    await question.waitFor({ state: "hidden" });
    await page.goto(`${dashboard.saldo.httpUrl}/operator/catalog?view=draft`);
    await expect.poll(() => draftOf(page).inputValue()).toBe(written);
    await page.goto(`${dashboard.saldo.httpUrl}/operator/catalog?view=history&version=1`);
    await page.getByRole("button", { name: "Jadikan draf" }).click();
    await question.getByRole("button", { name: "Ganti draf" }).click();
    await page.getByText("Versi dijadikan draf").waitFor();
    await expect.poll(() => draftOf(page).inputValue()).not.toBe(written);
  });

  it("credits once where the answer was lost and the order is sent again", async () => {
    await page.goto(`${dashboard.saldo.httpUrl}/operator/accounts`);
    await page.getByRole("button", { name: /demo@/ }).click();
    await page.getByRole("button", { name: "Beri kredit…" }).click();
    await page.getByLabel("Jumlah (Rp)").fill("1.000");
    await page.getByRole("button", { name: "Periksa dulu" }).click();
    await page.getByText("“1.000” bisa dibaca dua cara. Tulis 1000 atau 1.").waitFor();
    await page.getByLabel("Jumlah (Rp)").fill("1.000,5");
    await page.getByText("= Rp 1.000,5").waitFor();
    await page.getByRole("textbox", { name: "Alasan" }).fill("<b>percobaan</b>");
    await page.getByRole("button", { name: "Periksa dulu" }).click();
    expect(await page.getByTestId("command-amount").textContent()).toBe("+Rp\u00a01.000,50");
    await loseAnswers("**/CreditAccount");
    await page.getByRole("button", { name: "Beri kredit", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/Jawaban server tidak sampai/)
      .waitFor();
    await page.unroute("**/CreditAccount");
    await page.getByRole("button", { name: "Beri kredit", exact: true }).click();
    await page.getByText("Perintah ini sudah dijalankan sebelumnya").waitFor();
    await expect.poll(() => page.getByTestId("account-available").textContent()).toBe("Rp\u00a0101.000,50");
  });

  it("begins a new order where the key was used for another, and the refusal is gone", async () => {
    await page.getByRole("button", { name: "Beri kredit…" }).click();
    await page.getByLabel("Jumlah (Rp)").fill("1");
    await page.getByRole("textbox", { name: "Alasan" }).fill("satu");
    await page.getByRole("button", { name: "Periksa dulu" }).click();
    await loseAnswers("**/CreditAccount");
    const order = page.getByRole("dialog");
    await order.getByRole("button", { name: "Beri kredit", exact: true }).click();
    const refusal = order.getByRole("alert");
    await refusal.waitFor();
    await page.unroute("**/CreditAccount");
    await order.getByRole("button", { name: "Kembali" }).click();
    await page.getByLabel("Jumlah (Rp)").fill("2");
    await page.getByRole("button", { name: "Periksa dulu" }).click();
    await order.getByRole("button", { name: "Beri kredit", exact: true }).click();
    await refusal.getByText("sudah pernah dikirim dengan isi lain").waitFor();
    await order.getByRole("button", { name: "Mulai perintah baru" }).click();
    await refusal.waitFor({ state: "detached" });
    await order.getByRole("button", { name: "Beri kredit", exact: true }).click();
    await expect.poll(() => page.getByTestId("account-available").textContent()).toBe("Rp\u00a0101.003,50");
  });

  it("shows the problem of a half-typed field beside a choice, and clears it with the filter", async () => {
    await page.goto(`${dashboard.saldo.httpUrl}/operator/top-ups?provider=sandbox`);
    const account = page.getByLabel("Akun (e-mail atau ID)");
    const complaint = () => page.evaluate(`document.querySelector("[name=account]").validationMessage`);
    await account.fill("0198");
    await page.getByLabel("Status").selectOption("paid");
    await expect.poll(complaint).toBe("Isian ini belum benar.");
    await expect.poll(() => page.evaluate("document.activeElement.name")).toBe("account");
    expect(page.url()).not.toContain("state=");
    await page.getByRole("button", { name: "Hapus filter" }).click();
    await expect.poll(complaint).toBe("");
    await page.getByLabel("Status").selectOption("paid");
    await page.waitForURL(/\?state=paid$/);
  });

  it("records it, as plain text, and the books still balance", async () => {
    await page.goto(`${dashboard.saldo.httpUrl}/operator/log?action=account%20credit`);
    const log = page.getByRole("table", { name: "Perintah operator" });
    await log.getByText("<b>percobaan</b>").waitFor();
    await expect.poll(() => log.getByRole("row").count()).toBe(4);
    await page.goto(`${dashboard.saldo.httpUrl}/operator/log?open=zzz`);
    await page.getByRole("dialog").getByText("Tindakan ini tidak ditemukan").waitFor();
    await page.goto(`${dashboard.saldo.httpUrl}/operator/ledger?view=trial`);
    await expect.poll(() => page.getByTestId("is-balanced").textContent()).toBe("Seimbang");
  });

  it("is not available to other accounts", async () => {
    const customer = await dashboard.signUp();
    await customer.page.goto(`${dashboard.saldo.httpUrl}/operator/accounts`);
    await customer.page.getByRole("heading", { name: "Halaman ini hanya untuk operator" }).waitFor();
    expect(await customer.page.getByRole("link", { name: "Operator", exact: true }).count()).toBe(0);
    await customer.context.close();
  });
});

function withKey({ saldo }: Dashboard): RequestInit {
  return { headers: { authorization: `Bearer ${saldo.announced(/gw_\w+/)}` } };
}
