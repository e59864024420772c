// A person creates a merchant, stores its pair, sends a sandbox transfer and sends it again: it exists once. No other
// account sees it.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { proveSessionsOf } from "../setup/proofs.ts";
import { moveTo } from "./moves.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";

const ADDRESS = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
/** Shown as it is, whatever it looks like. */
const EXTERNAL_ID = "<b>inv/1:a.b</b>";

describe("transfers of a merchant", () => {
  let dashboard: Dashboard;
  let visit: Visit & { readonly email: string };
  let transferPath: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    visit = await dashboard.signUp();
  });
  afterAll(() => dashboard.close());

  it("shows the pair of a new merchant once, not closed by Escape, and its header works in the sandbox only", async () => {
    const { page } = visit;
    await page.goto(`${dashboard.saldo.httpUrl}/transfers`);
    await page.getByRole("button", { name: "Buat merchant sandbox" }).click();
    const dialog = page.getByRole("dialog", { name: "Simpan pasangan kunci ini sekarang" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    const header = await dialog.getByText(/^Basic \S+$/).textContent();
    const answers = await Promise.all(
      ["/sandbox/v1/merchant-balances", "/v1/merchant-balances"].map((path) =>
        fetch(dashboard.saldo.httpUrl + path, { headers: { authorization: header ?? "" } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
    await dialog.getByRole("button", { name: "Sudah saya simpan" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.reload();
    await page.getByText("Saldo masih kosong").waitFor();
    expect(await page.getByText(header ?? "").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe("/transfers/sandbox");
  });

  it("sends the confirmed order, with the displayed fee and total", async () => {
    const { page } = visit;
    await page.getByRole("button", { name: "Isi saldo sandbox" }).click();
    await page.getByRole("button", { name: "Ambil koin" }).click();
    await expect.poll(() => page.getByTestId("available-TRX").textContent()).toBe("1.000 TRX");
    await order(page, "12.5");
    const dialog = page.getByRole("dialog", { name: "Periksa transfer" });
    // The balance is filled in when it has loaded.
    await expect
      .poll(() => dialog.locator("dd").allTextContents())
      .toEqual([ADDRESS, "TRON", EXTERNAL_ID, "12,5 TRX", "+ 16,7 TRX", "29,2 TRX", "1.000 TRX"]);
    await dialog.getByRole("button", { name: "Kirim 12,5 TRX" }).click();
    await page.getByTestId("transfer-status").getByText("Terkonfirmasi").waitFor();
    transferPath = new URL(page.url()).pathname;
    await expect.poll(() => page.getByRole("table", { name: "Mutasi saldo" }).getByText("-16,7 TRX").count()).toBe(1);
    await page.goto(`${dashboard.saldo.httpUrl}/transfers/sandbox?status=CONFIRMED`);
    await expect.poll(() => page.getByTestId("available-TRX").textContent()).toBe("970,8 TRX");
    await page.getByRole("table", { name: "Transfer" }).getByRole("button", { name: EXTERNAL_ID }).waitFor();
    expectNoComplaints(dashboard);
  });

  it("shows that the same order exists already, links to it and sends nothing", async () => {
    const { page } = visit;
    await order(page, "12.50");
    await page.getByRole("dialog").getByRole("button", { name: "Kirim 12,5 TRX" }).click();
    await page.getByRole("heading", { name: "Transfer ini sudah ada" }).waitFor();
    await page.getByRole("link", { name: "Buka transfer yang sudah ada" }).click();
    await page.getByTestId("transfer-status").waitFor();
    expect(new URL(page.url()).pathname).toBe(transferPath);
    await page.goto(`${dashboard.saldo.httpUrl}/transfers/sandbox`);
    await expect.poll(() => page.getByRole("table", { name: "Transfer" }).locator("tbody tr").count()).toBe(1);
    await expect.poll(() => page.getByTestId("available-TRX").textContent()).toBe("970,8 TRX");
  });

  it("refuses the same external id for another amount, and shows why", async () => {
    const { page } = visit;
    await order(page, "13");
    await page.getByRole("dialog").getByRole("button", { name: "Kirim 13 TRX" }).click();
    await page.getByText("ID eksternal ini sudah dipakai untuk transfer lain").waitFor();
    await page.getByRole("button", { name: "Ubah dulu" }).click();
    expect(new URL(page.url()).pathname).toBe("/transfers/sandbox/new");
  });

  it("shows and sends the quoted order, whatever is typed while the quote is loading", async () => {
    const { page, context } = visit;
    await moveTo(page, "/transfers/sandbox/new");
    await page.getByLabel("Jumlah yang diterima").fill("5");
    await page.getByLabel("Alamat tujuan").fill(ADDRESS);
    await page.getByLabel("ID eksternal").fill("inv/slow");
    await page.getByText(/^\+ [\d.,]+ TRX$/).waitFor();
    const calls = /MerchantTransferService\/CalculateTransfer/;
    const typed = Promise.withResolvers<void>();
    await context.route(calls, async (route) => {
      await typed.promise;
      await route.continue();
    });
    const asked = page.waitForRequest(calls);
    await page.getByRole("button", { name: "Lanjut ke konfirmasi" }).click();
    await asked;
    await page.getByLabel("Jumlah yang diterima").fill("50");
    await page.getByLabel("ID eksternal").fill("inv/typed-later");
    typed.resolve();
    const dialog = page.getByRole("dialog", { name: "Periksa transfer" });
    await dialog.waitFor();
    expect((await dialog.locator("dd").allTextContents()).slice(0, 4)).toEqual([ADDRESS, "TRON", "inv/slow", "5 TRX"]);
    await dialog.getByRole("button", { name: "Kirim 5 TRX" }).click();
    await page.getByRole("heading", { name: "5 TRX", exact: true }).waitFor();
    await page.getByText("inv/slow").waitFor();
    await context.unroute(calls);
  });

  it("shows no other account's transfer", async () => {
    const other = await dashboard.visitDemo(transferPath);
    await other.page.getByText("Transfer ini tidak ada").waitFor();
    expect(await other.page.getByText(ADDRESS).count()).toBe(0);
    await other.context.close();
    expectNoComplaints(dashboard);
  });

  it("shows another pair once and revokes it, and the first one still works", async () => {
    const { page } = visit;
    await moveTo(page, "/transfers/sandbox/credentials");
    await page.getByRole("button", { name: "Buat pasangan" }).click();
    const pair = page.getByRole("dialog", { name: "Simpan pasangan kunci ini sekarang" });
    await pair.waitFor();
    const header = (await pair.getByText(/^Basic \S+$/).textContent()) ?? "";
    await pair.getByRole("button", { name: "Sudah saya simpan" }).click();
    const ask = () =>
      fetch(`${dashboard.saldo.httpUrl}/sandbox/v1/merchant-balances`, { headers: { authorization: header } });
    expect((await ask()).status).toBe(200);
    const table = page.getByRole("table", { name: "Kredensial" });
    // Until the new pair is in the list, another one is the last.
    const revocations = table.getByRole("button", { name: /^Cabut/ });
    await expect.poll(() => revocations.count()).toBe(2);
    await revocations.last().click();
    const question = page.getByRole("dialog", { name: "Cabut pasangan ini?" });
    await question.getByRole("button", { name: "Cabut" }).click();
    await table.getByText("Dicabut").waitFor();
    await expect.poll(() => table.getByText("Aktif").count()).toBe(1);
    await expect.poll(async () => (await ask()).status).toBe(401);
  });

  it("refuses an address before the confirmation, and shows where the balance is too low", async () => {
    const { page } = visit;
    await moveTo(page, "/transfers/sandbox/new");
    await page.getByLabel("Jumlah yang diterima").fill("999.999.999");
    await page.getByText("= 999.999.999 TRX").waitFor();
    await page.getByText("Saldo tidak cukup").waitFor();
    await page.getByLabel("Alamat tujuan").fill("bukan alamat");
    await page.getByRole("button", { name: "Lanjut ke konfirmasi" }).click();
    await page.getByRole("alert").getByText("bukan alamat tujuan yang sah").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("offers no production merchant where production transfers are not offered", async () => {
    const { page } = visit;
    await moveTo(page, "/transfers/production");
    await page.getByText("belum ditawarkan oleh layanan ini").waitFor();
    expect(await page.getByRole("button", { name: "Buat merchant produksi" }).count()).toBe(0);
  });

  it("shows that the currencies failed to load, and tries again", async () => {
    const { page, context } = visit;
    const calls = /MerchantService\/ListCurrencies/;
    const failed = page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" });
    for (const path of ["/transfers/production", "/transfers/sandbox/new"]) {
      await context.route(calls, (route) => route.abort());
      await page.goto(dashboard.saldo.httpUrl + path);
      await failed.waitFor();
      await context.unroute(calls);
      await failed.getByRole("button", { name: "Coba lagi" }).click();
      await failed.waitFor({ state: "detached" });
    }
    await expect.poll(() => page.getByLabel("Mata uang").locator("option").count()).toBeGreaterThan(1);
  });

  it("shows the secrets of callbacks once, and the problem of an address", async () => {
    const { page } = visit;
    await moveTo(page, "/transfers/sandbox/callbacks");
    await page.getByLabel("Alamat callback").fill("https://10.0.0.1/hook");
    await page.getByRole("button", { name: "Simpan", exact: true }).click();
    await page.getByRole("alert").getByText("ID permintaan").waitFor();
    await page.getByLabel("Alamat callback").fill("https://merchant.example/hook");
    await page.getByRole("button", { name: "Simpan", exact: true }).click();
    const once = page.getByRole("dialog", { name: "Simpan ini sekarang" });
    await once.waitFor();
    await page.keyboard.press("Escape");
    const secret = (await once.locator("code").last().textContent()) ?? "";
    await once.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.reload();
    await page.getByText(`…${secret.slice(-4)}`).waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    expectNoComplaints(dashboard);
  });

  it("links to a transfer in its own environment", async () => {
    const { page } = visit;
    await dashboard.database.database.pool.query(
      "INSERT INTO merchant (id, account_id, environment) SELECT gen_random_uuid(), account_id, 'production' FROM merchant",
    );
    // Owners of a production merchant need a second factor.
    await proveSessionsOf(dashboard.database.database.pool, visit.email);
    await page.goto(dashboard.saldo.httpUrl + transferPath.replace("sandbox", "production"));
    await page.getByTestId("transfer-status").waitFor();
    expect(new URL(page.url()).pathname).toBe(transferPath);
  });

  async function order(page: Page, amount: string): Promise<void> {
    await moveTo(page, "/transfers/sandbox/new");
    await page.getByLabel("Jumlah yang diterima").fill(amount);
    await page.getByLabel("Alamat tujuan").fill(ADDRESS);
    await page.getByLabel("ID eksternal").fill(EXTERNAL_ID);
    await page.getByRole("button", { name: "Lanjut ke konfirmasi" }).click();
    await page.getByRole("dialog", { name: "Periksa transfer" }).waitFor();
  }
});
