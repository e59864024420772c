// The sheet of a request explains its price: every kind of token, how they were counted, late charges; and what its
// ledger entries refer to.

import { createClient } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDemo } from "../../src/app/demo/demo.ts";
import { BillingService } from "../../src/client/client.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { billRichRequest } from "./rich-request.ts";
import { callsOf } from "./session-calls.ts";

describe("the sheet of a request", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  let page: Page;
  let requestId: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { database } = dashboard.database;
    requestId = await billRichRequest(database, (await findDemo(database)).accountId);
    visit = await dashboard.visitDemo("/usage");
    ({ page } = visit);
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  async function textOfSheet(language: "id" | "en"): Promise<string> {
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.goto(`${dashboard.saldo.httpUrl}/usage?request=${requestId}`);
    const sheet = page.getByRole("dialog");
    await sheet.getByText("a_rule_of_tomorrow").waitFor();
    return sheet.innerText();
  }

  it("has a line for every kind of token at its billed price, and the lines add up to the cost", async () => {
    const text = (await textOfSheet("en")).replaceAll(/[\s\u00a0]+/g, " ");
    // Above 20 000 input tokens the long-context prices apply; a kind without its own price costs as much as input or
    // output.
    for (const line of [
      /Input Rp ?963\.20 12,040 × Rp ?80,000/,
      /Cache Rp ?57\.3440 7,168 × Rp ?8,000/,
      /Cache write Rp ?204\.80 2,048 × Rp ?100,000/,
      /Cache write, 1 hour Rp ?102\.40 1,024 × Rp ?100,000/,
      /Audio input Rp ?48 300 × Rp ?160,000/,
      /Image input Rp ?88\.40 1,105 × Rp ?80,000/,
      /Output Rp ?92\.16 512 × Rp ?180,000/,
      /Image output Rp ?619\.20 1,290 × Rp ?480,000/,
      /Per request Rp ?12\.50/,
      /Cost Rp ?2,188\.0040/,
      /Credited back Rp ?1 /,
      /Long-context prices: more input tokens than 20,000/,
    ])
      expect(text).toMatch(line);
    expect(text).not.toContain("Rounded up");
  });

  it("shows the rules of its count in both languages, and an unknown rule by its name", async () => {
    const english = await textOfSheet("en");
    expect(english).toContain("The upstream reported more output than this request's bound; the count was cut.");
    expect(english).toContain("The cached part is assumed from your last request");
    expect(english.replaceAll(/\s+/g, " ")).toMatch(/Reported by the upstream Input 23,685 Cache 7,168 Output 5,386/);
    const indonesian = await textOfSheet("id");
    expect(indonesian).toContain("Token output dari upstream melebihi batas permintaan ini dan dipotong.");
    expect(indonesian).toContain("a_rule_of_tomorrow");
  });

  it("does not show a customer the costs that the operator bears", async () => {
    const { record } = await createClient(BillingService, await callsOf(dashboard, visit)).getUsageRecord({
      requestId,
    });
    expect(record?.otherTokens).toMatchObject({ cacheWrite: 2_048n, cacheWrite1h: 1_024n, imageOutput: 1_290n });
    expect(record?.unbilledCost).toBeUndefined();
    expect(await textOfSheet("en")).not.toContain("borne by the operator");
  });

  it("is one click from the ledger entries of its charge and of its credit note", async () => {
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    const ledger = page.getByRole("table", { name: "Ledger" });
    const note = ledger.getByRole("row").filter({ hasText: "Credit note" }).first();
    await note.getByRole("link", { name: new RegExp(`Request …${requestId.slice(-12)}`) }).click();
    await page.getByRole("dialog").getByText(requestId).first().waitFor();
    expect(new URL(page.url()).searchParams.get("request")).toBe(requestId);
  });
});
