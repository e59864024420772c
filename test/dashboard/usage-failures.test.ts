// A failed request shows its status, code and reason: in the list, in its sheet and in the file, in both languages.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_EMAIL } from "../../src/identity/demo-person.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { downloadCsv } from "./usage-shown.ts";

describe("a failed request", () => {
  let dashboard: Dashboard;
  let page: Page;
  let ids: { readonly busy: string; readonly cut: string; readonly answered: string };
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = await dashboard.visitDemo("/usage?tab=requests"));
    ids = { busy: await ask("!503x", false), cut: await ask("!cut", true), answered: await ask("hello", false) };
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  /** Sends a chat request with the demo's key, and returns the request's id. */
  async function ask(content: string, stream: boolean): Promise<string> {
    const answer = await fetch(`${dashboard.saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${dashboard.saldo.announced(/gw_\w+/)}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "demo/small", stream, messages: [{ role: "user", content }] }),
    });
    await answer.text();
    return answer.headers.get("x-request-id") ?? "";
  }

  async function nameOfDemoKey(): Promise<string | undefined> {
    const { rows } = await dashboard.database.database.pool.query<{ name: string }>(
      "SELECT k.name FROM usage_record u JOIN api_key k ON k.id = u.key_id WHERE u.request_id = $1",
      [ids.busy],
    );
    return rows[0]?.name;
  }

  async function open(path: string, language: "id" | "en"): Promise<void> {
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.goto(dashboard.saldo.httpUrl + path);
  }

  it.each([
    { language: "id", table: "Permintaan", wide: true },
    { language: "en", table: "Requests", wide: true },
    { language: "en", table: "Requests", wide: false },
  ] as const)("has its status and code in the list: $language, wide $wide", async ({ language, table, wide }) => {
    await page.setViewportSize(wide ? { width: 1280, height: 900 } : { width: 390, height: 844 });
    await open("/usage?tab=requests", language);
    const rows = page.getByRole("table", { name: table }).getByRole("row");
    await rows.getByText("503 upstream_busy").filter({ visible: true }).first().waitFor();
    expect(await rows.getByText("503 upstream_busy").filter({ visible: true }).count()).toBe(1);
    expect(await rows.getByText("200 upstream_busy").filter({ visible: true }).count()).toBe(1);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it.each([
    { which: "busy", language: "en", texts: ["503 upstream_busy", "The upstream was busy or could not be reached."] },
    {
      which: "busy",
      language: "id",
      texts: ["503 upstream_busy", "Upstream sedang sibuk atau tidak dapat dihubungi."],
    },
    { which: "cut", language: "en", texts: ["200 upstream_busy", "The answer broke off after it had begun."] },
    { which: "cut", language: "id", texts: ["200 upstream_busy", "Jawaban terputus setelah mulai dikirim."] },
  ] as const)("has its reason in its sheet: $which, $language", async ({ which, language, texts }) => {
    await open(`/usage?request=${ids[which]}`, language);
    const sheet = page.getByRole("dialog");
    await expect.poll(() => sheet.innerText()).toContain(texts[1]);
    expect(await sheet.innerText()).toContain(texts[0]);
  });

  it("is found by the filter, charged or not, in the list, the sums and the file", async () => {
    await open("/usage?tab=requests", "id");
    await page.getByLabel("Status", { exact: true }).selectOption("Gagal");
    await expect.poll(() => new URL(page.url()).searchParams.get("status")).toBe("failed");
    const failed = new Set([ids.busy, ids.cut]);
    const names = page.getByRole("table", { name: "Permintaan" }).locator("tbody tr button .sr-only");
    await expect
      .poll(async () => new Set((await names.allTextContents()).map((text) => text.split(" ").at(-1))))
      .toEqual(failed);
    await expect.poll(() => page.getByTestId("total-requests").textContent()).toBe("2");
    const { records } = await downloadCsv(page);
    expect(records).toHaveLength(failed.size);
    expect(new Set(records.map(({ request_id }) => request_id))).toEqual(failed);
    expect(records.filter(({ charge_idr }) => charge_idr !== "0").map(({ request_id }) => request_id)).toEqual([
      ids.cut,
    ]);
    expect(new Set(records.map(({ key_name }) => key_name))).toEqual(new Set([await nameOfDemoKey()]));
    // No person has made the demo's key.
    expect(new Set(records.map(({ member }) => member))).toEqual(new Set([""]));
  });

  it("has the member who made its key in the file", async () => {
    const make =
      "UPDATE api_key k SET person_id = p.id FROM auth.person p WHERE p.account_id = k.account_id AND p.email = $1";
    await dashboard.changeRows(make, [DEMO_EMAIL]);
    await open("/usage?tab=requests&status=failed", "id");
    const { records } = await downloadCsv(page);
    expect(records).toHaveLength(2);
    expect(new Set(records.map(({ member }) => member))).toEqual(new Set([DEMO_EMAIL]));
  });

  it.each(["id", "en"] as const)("has a dash for its cost where nothing was charged: %s", async (language) => {
    await open("/usage?tab=requests&status=failed", language);
    const table = page.getByRole("table", { name: language === "id" ? "Permintaan" : "Requests" });
    const row = table.locator("tbody tr").filter({ hasText: "503 upstream_busy" });
    await row.waitFor();
    const cells = (await row.locator("td").allTextContents()).map((text) => text.trim());
    expect(cells).toContain("—");
    expect(cells.join(" ")).not.toMatch(/Rp.0/);
    const cut = table.locator("tbody tr").filter({ hasText: "200 upstream_busy" });
    expect(await cut.textContent()).toMatch(/Rp/);
  });

  it("is no failure where the answer reached its end", async () => {
    await open(`/usage?request=${ids.answered}`, "en");
    const sheet = page.getByRole("dialog");
    await sheet.getByText(ids.answered).first().waitFor();
    expect(await sheet.getByText("Status and code").count()).toBe(0);
  });

  it("has status, code and reason in the file", async () => {
    await open("/usage", "id");
    const { records } = await downloadCsv(page);
    const lineOf = (id: string) => {
      const line = records.find(({ request_id }) => request_id === id);
      return [line?.["failure_status"], line?.["failure_code"], line?.["failure_reason"]];
    };
    expect(lineOf(ids.busy)).toEqual(["503", "upstream_busy", "The upstream was busy or could not be reached."]);
    expect(lineOf(ids.cut)).toEqual(["200", "upstream_busy", "The answer broke off after it had begun."]);
    expect(lineOf(ids.answered)).toEqual(["", "", ""]);
  });
});
