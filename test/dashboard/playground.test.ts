// The playground in use: with the session, and no key in the browser.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objections } from "./objections.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

describe("the playground", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    // At this pace the slow answer is still running when a busy machine stops it.
    dashboard = await openDashboard({ SALDO_DEMO_PACE_MS: "50" });
  });
  afterAll(() => dashboard.close());

  it("answers, shows the cost, and is recorded under the account's playground key", async () => {
    const { page } = await dashboard.visitDemo("/playground?model=demo%2Fsmall");
    const keys: string[] = [];
    page.on("request", (request) => keys.push(request.headers()["authorization"] ?? ""));
    await page.getByLabel("Pesan", { exact: true }).fill("Halo <img src=x onerror=alert(1)> !tokens=20");
    await page.keyboard.press("Enter");
    expect(await page.getByTestId("cost").textContent()).toMatch(/^Rp\s0,\d+$/);
    expect(keys.filter(Boolean)).toEqual([]);
    await page.getByRole("link", { name: "Lihat di pemakaian" }).click();
    await page.getByRole("dialog", { name: "Permintaan" }).getByText("Playground", { exact: true }).waitFor();
    expectNoComplaints(dashboard);
  });

  it("shows what is missing, and where to top up, when the balance is too low", async () => {
    // Without motion: axe would measure colours half-way between the themes.
    const { page } = await dashboard.signUp({ reducedMotion: "reduce" });
    await page.goto(`${dashboard.saldo.httpUrl}/playground?model=demo%2Flarge`);
    await page.getByLabel("Pesan", { exact: true }).fill("Halo");
    await page.getByRole("button", { name: "Kirim" }).click();
    const card = page.getByRole("alert").filter({ hasText: "Saldo tidak cukup" });
    await expect.poll(() => card.textContent()).toMatch(/Tersedia Rp\s0 · Dibutuhkan Rp\s[\d.,]*[1-9]/);
    for (const theme of ["light", "dark"]) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      expect(await objections(page), theme).toEqual([]);
    }
    await card.getByRole("link", { name: "Isi saldo" }).click();
    await page.waitForURL((url) => url.pathname === "/billing");
    expectNoComplaints(dashboard);
  });

  it("stops an answer half-way, and keeps the received part", async () => {
    const { page } = await dashboard.visitDemo("/playground?model=demo%2Fsmall");
    await page.getByLabel("Pesan", { exact: true }).fill("!slow");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Berhenti" }).click();
    await page.getByText("Dihentikan.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Berhenti" }).count()).toBe(0);
    expectNoComplaints(dashboard);
  });
});
