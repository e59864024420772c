// Every page and dialog in both themes, both widths and both languages: no violation by axe, no sideways scroll on a
// small phone, no refusal by the page's own policy. A page is opened once, without a load, so that axe is loaded once; the other
// variants are switched while it is open. The short form looks at each page once, at the next in another theme, width and
// language; the long form looks at every page in all combinations.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AREAS_OF_FILES, EVERY_PAGE } from "./every-page.ts";
import { moveTo, watchCalls } from "./moves.ts";
import { objections } from "./objections.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { addressOf, nameOf, type PageToLookAt } from "./page-to-look-at.ts";
import { refuseCall } from "./refused-call.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { makeSeededSetup } from "./seeded-setup.ts";

const WIDTHS = [1280, 390] as const;
const SMALLEST_WIDTH = 360;
const THEMES = ["light", "dark"] as const;
const LANGUAGES = ["id", "en"] as const;
type Language = (typeof LANGUAGES)[number];
/** Without motion: axe would measure colours half-way between the themes. */
const STILL = { reducedMotion: "reduce" } as const;
/** The files of pages, without those that all pages need. */
const FILES_OF_PAGES = /\/assets\/[^/]*-page-[^/]*\.js/;

type Who = "inside" | "outside" | "newcomer";

/** An open page, and what waits until its calls have ended. */
type Looking = { readonly page: Page; readonly untilAnswered: () => Promise<void> };

/** The tests of the pages of a file's areas. */
export function lookAtPages(file: keyof typeof AREAS_OF_FILES): void {
  const everyPage = AREAS_OF_FILES[file].flatMap((area): readonly PageToLookAt[] => EVERY_PAGE[area]);
  describe(`every page of ${file}`, () => {
    let dashboard: Dashboard;
    const visits = new Map<Who, Looking>();
    const begin = (who: Who, { page }: Visit) => visits.set(who, { page, untilAnswered: watchCalls(page) });
    let mustLoad = false;
    let rows: Readonly<Record<string, string>> = {};
    beforeAll(async () => {
      dashboard = await openDashboard();
      const looking = new Set(everyPage.map(whoLooksAt));
      if (looking.has("outside")) begin("outside", await dashboard.visit("/sign-in", STILL));
      if (looking.has("newcomer")) begin("newcomer", await dashboard.signUp(STILL));
      if (!looking.has("inside")) return;
      const inside = await dashboard.visitDemo("/settings", STILL);
      begin("inside", inside);
      rows = await makeSeededSetup(dashboard, inside);
    });
    afterAll(() => dashboard.close());

    const pages = everyPage.map((each, index) => [nameOf(each), each, index] as const);
    it.each(pages)("%s is in order", async (_name, each, index) => {
      const looking = visits.get(whoLooksAt(each));
      if (looking === undefined) throw new Error("the page is not part of the test");
      await open(looking, each);
      const { page } = looking;
      for (const { language, looks } of looksAt(index)) {
        await speak(page, language);
        for (const { width, theme } of looks) {
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
          expect(await objections(page), `${language} ${width} ${theme}`).toEqual([]);
        }
        expect((await page.getByRole("dialog").count()) > 0, `${language}: a dialog`).toBe(each.isDialog === true);
        await page.setViewportSize({ width: SMALLEST_WIDTH, height: 780 });
        // A chart follows the width of its box a moment later.
        const overflow = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        await expect.poll(overflow, { message: `${language} at ${SMALLEST_WIDTH} px` }).toBeLessThanOrEqual(0);
      }
      expectNoComplaints(dashboard);
    });

    /** The part in Indonesian. */
    async function open({ page, untilAnswered }: Looking, each: PageToLookAt): Promise<void> {
      const { path, isNowhere, isBroken, refuses, isLive, first = [], isDialog, shows } = each;
      await page.unrouteAll();
      if (isBroken === true) await page.route(FILES_OF_PAGES, (route) => route.fulfill({ status: 404, body: "" }));
      if (refuses !== undefined) await page.route(refuses, refuseCall);
      await speak(page, "id");
      if (isNowhere === true || isBroken === true || refuses !== undefined || mustLoad)
        await load(page, addressOf(path, rows));
      else await moveTo(page, addressOf(path, rows));
      mustLoad = isBroken === true;
      if (isLive !== true) await untilAnswered();
      for (const step of first) await step.on(page);
      if (isDialog === true) await page.getByRole("dialog").last().waitFor();
      if (shows !== undefined) await page.getByText(shows).filter({ visible: true }).first().waitFor();
      await settle(page);
    }

    /** A page that was open before has its file and answers; a page that has failed keeps that. */
    async function load(page: Page, address: string): Promise<void> {
      await page.goto(dashboard.saldo.httpUrl + address);
      await page.locator("h1").first().waitFor();
    }
  });
}

type Look = { readonly width: (typeof WIDTHS)[number]; readonly theme: (typeof THEMES)[number] };

const LOOKS: readonly Look[] = WIDTHS.flatMap((width) => THEMES.map((theme) => ({ width, theme })));

/** The languages of the page at an index, with its widths and themes there. The short form's alternate from page to page. */
function looksAt(index: number): readonly { readonly language: Language; readonly looks: readonly Look[] }[] {
  if (IS_LONG) return LANGUAGES.map((language) => ({ language, looks: LOOKS }));
  const language = LANGUAGES[index % LANGUAGES.length] ?? "id";
  const look = LOOKS[Math.floor(index / LANGUAGES.length) % LOOKS.length];
  return [{ language, looks: look === undefined ? [] : [look] }];
}

function whoLooksAt({ isOutside, isNew }: PageToLookAt): Who {
  if (isOutside === true) return "outside";
  return isNew === true ? "newcomer" : "inside";
}

/** Data that is still loading would not be checked. */
async function settle(page: Page): Promise<void> {
  await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
}

/** Switches the language by the control in the header. A dialog covers it, so a mouse click would not reach it. */
async function speak(page: Page, language: Language): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 });
  if ((await page.evaluate("document.documentElement.lang")) === language) return;
  await page.evaluate(`document.querySelector("header input[type=radio][value=${language}]").click()`);
  await expect.poll(() => page.evaluate("document.documentElement.lang")).toBe(language);
  await settle(page);
}
