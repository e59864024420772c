// Every page in both themes, both widths and both languages: nothing that axe objects to, nothing that scrolls sideways on a
// small phone, nothing that the page's own policy refuses.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EVERY_PAGE, type PageToLookAt } from "./every-page.ts";
import { objections } from "./objections.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { orderSeededTransfers, stopSandboxWallet } from "./waiting-transfers.ts";

const WIDTHS = [1280, 390];
const SMALLEST_WIDTH = 360;
const THEMES = ["light", "dark"] as const;
const LANGUAGES = ["id", "en"] as const;

/** The tests of the pages that are chosen. Several files share the pages, so that two of them are looked at at once. */
export function lookAtPages(isMeant: (page: PageToLookAt) => boolean): void {
  const pages = EVERY_PAGE.filter(isMeant);
  let dashboard: Dashboard;
  let inside: Visit;
  let outside: Visit;
  beforeAll(async () => {
    dashboard = await openDashboard();
    await askSomething(dashboard);
    await orderSeededTransfers(dashboard.database.database);
    await stopSandboxWallet(dashboard.database.database);
    inside = await dashboard.visitDemo("/billing", { reducedMotion: "reduce" });
    outside = await dashboard.visit("/sign-in", { reducedMotion: "reduce" });
  });
  afterAll(() => dashboard.close());

  it.each(pages.map((each) => [[each.path, ...pressesOf(each).map(String)].join(" "), each] as const))(
    "%s is in order",
    async (_name, each) => {
      const { page } = each.isOutside === true ? outside : inside;
      for (const language of LANGUAGES) {
        await open(page, each, language);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          for (const theme of THEMES) {
            await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
            expect(await objections(page), `${language} ${width} ${theme}`).toEqual([]);
          }
        }
        expect(await page.evaluate("document.documentElement.lang")).toBe(language);
        await page.setViewportSize({ width: SMALLEST_WIDTH, height: 780 });
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${language} at ${SMALLEST_WIDTH} px`).toBeLessThanOrEqual(0);
      }
      expectNoComplaints(dashboard);
    },
  );

  async function open(page: Page, each: PageToLookAt, language: (typeof LANGUAGES)[number]): Promise<void> {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.goto(dashboard.saldo.httpUrl + each.path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    // What is still on its way would not be looked at.
    await page.waitForLoadState("networkidle");
    for (const name of pressesOf(each)) {
      await page.getByRole("button", { name }).first().click();
      await page.getByRole("dialog").last().waitFor();
      await page.waitForLoadState("networkidle");
    }
  }
}

function pressesOf({ press = [] }: PageToLookAt): readonly RegExp[] {
  return [press].flat();
}

/** A few requests, so that tables and charts have something to show. */
async function askSomething({ saldo }: Dashboard): Promise<void> {
  const key = saldo.announced(/gw_\w+/);
  for (const model of ["demo/small", "demo/large", "demo/vision"]) {
    const answer = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello! !tokens=40" }] }),
    });
    expect(answer.status).toBe(200);
  }
}
