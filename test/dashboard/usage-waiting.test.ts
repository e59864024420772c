// The usage page and the overview when there is no data yet, and when a section fails.

import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { callsOf } from "./session-calls.ts";

describe("the usage page without usage", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  beforeAll(async () => {
    dashboard = await openDashboard();
    visit = await dashboard.visitDemo("/usage");
  });
  afterAll(() => dashboard.close());

  const open = (path: string) => visit.page.goto(dashboard.saldo.httpUrl + path);

  it("shows a command, waits, and shows the usage of the first request by itself", async () => {
    const { page, context } = visit;
    const list = await context.newPage();
    await list.goto(`${dashboard.saldo.httpUrl}/usage?tab=requests`);
    for (const waiting of [page, list]) {
      await waiting.getByText("Menunggu permintaan pertama…").waitFor();
      await waiting.locator("pre").filter({ hasText: "/v1/chat/completions" }).waitFor();
    }
    const answer = await fetch(`${dashboard.saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${dashboard.saldo.announced(/gw_\w+/)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Halo" }] }),
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => page.getByTestId("total-requests").textContent()).toBe("1");
    await page.getByRole("row", { name: /demo\/small/ }).waitFor();
    await list.getByRole("button", { name: /^.*Buka permintaan/ }).waitFor();
    await list.close();
  });

  it("shows that other days are empty, and offers a longer range", async () => {
    const { page } = visit;
    await open("/usage?from=2026-01-01&to=2026-01-02");
    await page.getByText("Pilih rentang yang lebih panjang atau hapus filter.").waitFor();
    expect(await page.getByText("Menunggu permintaan pertama…").count()).toBe(0);
    await page.getByRole("main").getByRole("button", { name: "90 hari" }).click();
    await page.getByRole("row", { name: /demo\/small/ }).waitFor();
  });

  it("uses the singular for one request in English", async () => {
    const { page } = visit;
    await page.evaluate("localStorage.setItem('saldo.language', 'en')");
    await open("/");
    await expect.poll(() => page.getByText("1 request", { exact: true }).count()).toBe(2);
    await page.evaluate("localStorage.setItem('saldo.language', 'id')");
  });

  it("distinguishes keys of the same name", async () => {
    const { page } = visit;
    const keys = createClient(KeysService, await callsOf(dashboard, visit));
    const made = [await keys.createKey({ name: "laptop" }), await keys.createKey({ name: "laptop" })];
    await open("/usage");
    const options = () => page.getByLabel("Kunci", { exact: true }).locator("option").allTextContents();
    const names = made.map(({ key }) => `laptop (${key?.prefix}…)`);
    await expect.poll(options).toEqual(expect.arrayContaining(names));
  });

  it("shows dashes for sums that failed to load, and every section that loaded", async () => {
    const { page, context } = visit;
    const calls = /BillingService\/SummarizeUsage/;
    await context.route(calls, (route) => route.abort());
    await open("/usage?tab=requests");
    await page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" }).waitFor();
    const numbers = page.locator("main p.digits");
    await expect.poll(() => numbers.allTextContents()).toEqual(["—", "—", "—", "—"]);
    await page.getByRole("button", { name: /Buka permintaan/ }).waitFor();
    await context.unroute(calls);
    await page.getByRole("button", { name: "Coba lagi" }).click();
    await page.getByTestId("total-cost").waitFor();
  });

  it("has a button to try again where the balance failed to load", async () => {
    const { page, context } = visit;
    const calls = /BillingService\/GetBalance/;
    await context.route(calls, (route) => route.abort());
    await open("/");
    const failed = page.getByRole("alert").filter({ hasText: "Gagal dimuat" });
    await failed.waitFor();
    await context.unroute(calls);
    await failed.getByRole("button", { name: "Coba lagi" }).click();
    const balance = page.locator("main p.digits").first();
    await expect.poll(() => balance.textContent()).toMatch(/^Rp\s[\d.,]+$/);
    await failed.waitFor({ state: "detached" });
    expectNoComplaints(dashboard);
  });
});
