// Text that a person writes stays text, on every page that shows it: names, descriptions, reasons, mail addresses, a
// browser's User-Agent, a model's answer, and the page's address. It creates no element, loads nothing and runs
// nothing; the page's own policy has nothing to refuse.

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_LONG } from "../setup/long-tests.ts";
import { EVERY_PAGE } from "./every-page.ts";
import {
  CALLBACK,
  HOSTILE_BADGE,
  HOSTILE_EMAIL,
  hostile,
  type HostileSetup,
  LURE,
  makeHostileSetup,
  MODEL_ID,
  partOf,
  stopEverything,
  written,
} from "./hostile-setup.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { moveTo } from "./moves.ts";
import { addressOf, ROWS } from "./page-to-look-at.ts";

const MODEL = encodeURIComponent(MODEL_ID);

/** The texts that each page must show, besides the mail address, which is on every page. */
const COMES_OUT: Readonly<Record<string, readonly string[]>> = {
  "/": ["key", MODEL_ID],
  "/usage": ["key", MODEL_ID],
  "/usage?tab=requests": ["key", MODEL_ID],
  "/usage?request=REQUEST": ["key", MODEL_ID],
  "/keys": ["key"],
  "/models": ["model-name", HOSTILE_BADGE, MODEL_ID],
  "/transfers/sandbox": ["external-id"],
  "/transfers/sandbox/TRANSFER": ["external-id"],
  "/transfers/sandbox/callbacks": [CALLBACK],
  "/settings": ["browser", "person"],
  "/playground": [MODEL_ID],
  "/docs": [MODEL_ID],
  "/operator/catalog": ["model-name", HOSTILE_BADGE, MODEL_ID],
  "/operator/catalog?view=draft": ["model-name", "description", "route", HOSTILE_BADGE, MODEL_ID],
  "/operator/catalog?view=history": ["publish"],
  "/operator/catalog?view=history&version=1": ["publish"],
  "/operator/accounts/ACCOUNT": [],
  "/operator/ledger": ["credit", "adjust", "credit-note", "note-name", "coins"],
  "/operator/service": ["stop"],
  "/operator/fees?merchant=MERCHANT": [],
  "/operator/margin": [MODEL_ID],
  "/operator/log": [
    "publish",
    "credit",
    "adjust",
    "limit",
    "credit-note",
    "settings",
    "freeze",
    "stop",
    "fee",
    "coins",
  ],
};

/** The text that is written into an address. */
const IN_ADDRESSES = [
  "/no/such/PAYLOAD",
  "/docs/PAYLOAD",
  "/transfers/PAYLOAD",
  "/transfers/sandbox/PAYLOAD",
  "/operator/accounts/PAYLOAD",
  "/usage?model=PAYLOAD&key=PAYLOAD&status=PAYLOAD&from=PAYLOAD&to=PAYLOAD&tab=PAYLOAD&unit=PAYLOAD&request=PAYLOAD",
  "/billing?topUp=PAYLOAD",
  "/models?q=PAYLOAD&model=PAYLOAD&sort=PAYLOAD&modality=PAYLOAD",
  "/playground?model=PAYLOAD",
  "/transfers/sandbox?status=PAYLOAD",
  "/operator/catalog?view=PAYLOAD&q=PAYLOAD&model=PAYLOAD&version=PAYLOAD",
  "/operator/accounts?q=PAYLOAD",
  "/operator/ledger?account=PAYLOAD&reason=PAYLOAD&reference=PAYLOAD&group=PAYLOAD&asset=PAYLOAD&from=PAYLOAD&open=PAYLOAD",
  "/operator/log?operator=PAYLOAD&action=PAYLOAD&subject=PAYLOAD&open=PAYLOAD",
  "/operator/security?person=PAYLOAD&account=PAYLOAD&kind=PAYLOAD&outcome=PAYLOAD&event=PAYLOAD",
  "/operator/top-ups?account=PAYLOAD&provider=PAYLOAD&state=PAYLOAD&topUp=PAYLOAD",
  "/operator/upstreams?upstream=PAYLOAD",
  "/sign-in?next=PAYLOAD",
  "/reset-password?token=PAYLOAD&error=PAYLOAD",
] as const;
const PAYLOADS = [`${partOf("address")}/../.:%2f`, "javascript:alert(1)//{{7*7}}"] as const;

/** An answer that would be a page of its own, where Markdown were made into HTML. */
const HOSTILE_MARKDOWN = [
  `[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>alert(1)</script>) [d](${LURE}path)`,
  `![e](${LURE}picture) ![f](javascript:alert(1)) [g][h] <javascript:alert(1)> <a href="javascript:alert(1)">i</a>`,
  "[h]: javascript:alert(1)",
  `<iframe src="${LURE}frame"></iframe><style>@import "${LURE}style"</style>`,
  `> - **${partOf("quote")}**`,
  `| j |\n|---|\n| ${partOf("cell")} |`,
  `\`\`\`${partOf("language").replaceAll(" ", "")}\n${partOf("code")}\n\`\`\``,
  "[k](https://saldo.example/whole)",
].join("\n\n");

/** There is no page. */
const NOWHERE = /^\/(?:no\/such|transfers)\/PAYLOAD$/;

/** The pages without a row; those of a row are above. */
const INSIDE = Object.values(EVERY_PAGE)
  .flat()
  .filter(
    ({ isOutside, isNowhere, isBroken, isDialog, first }) => !(isOutside ?? isNowhere ?? isBroken ?? isDialog ?? first),
  )
  .map(({ path }) => path)
  .filter((path) => !ROWS.test(path));

describe("hostile text", () => {
  let dashboard: Dashboard;
  let setup: HostileSetup;
  let page: Page;
  const harm: string[] = [];
  const seen = new Set<string>();
  beforeAll(async () => {
    dashboard = await openDashboard();
    setup = await makeHostileSetup(dashboard);
    ({ page } = setup.visit);
    await watchForHarm(setup.visit.context, page);
  });
  afterAll(() => dashboard.close());

  /** Records whatever runs, is loaded or is refused from now on. */
  async function watchForHarm(context: BrowserContext, watched: Page): Promise<void> {
    watched.on("dialog", (dialog) => {
      harm.push(`a dialog with ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on("request", (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin !== dashboard.saldo.httpUrl || pathname.startsWith(LURE)) harm.push(`loads ${request.url()}`);
    });
    await context.exposeBinding("noteViolation", (_source, what: string) => void harm.push(`refused ${what}`));
    await context.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
      noteViolation(event.violatedDirective + " " + event.blockedURI + " on " + location.pathname))`);
  }

  /** No text became an element of the page. */
  async function expectHarmless(): Promise<void> {
    const made = await page.evaluate<string[]>(`[...document.querySelectorAll(
      '[src*="${LURE}"], [onerror], [onload], iframe, object, embed, base, a[href^="javascript:" i], form[action^="javascript:" i]'
    ), ...[...document.scripts].filter((each) => each.textContent.includes("alert(1)"))].map((each) => each.outerHTML)`);
    expect(made).toEqual([]);
    expect(harm.splice(0)).toEqual([]);
    expectNoComplaints(dashboard);
  }

  /** The visible text of a page, including its fields. */
  const textOf = () =>
    page.evaluate<string>(`[document.body.innerText, ...[...document.querySelectorAll("input, textarea")].map((each) =>
      each.value), ...[...document.querySelectorAll("option")].map((each) => each.textContent)].join("\\n")`);

  const open = async (path: string): Promise<void> => {
    await page.goto(dashboard.saldo.httpUrl + path);
    await untilShown(path);
  };

  /** Without a load of the document. */
  const goOnTo = async (path: string): Promise<void> => {
    await moveTo(page, path);
    await untilShown(path);
  };

  async function untilShown(path: string): Promise<void> {
    const cookies = await page.context().cookies();
    // A signed-in person is redirected from there, after a moment.
    if (path.startsWith("/sign-in") && cookies.length > 0)
      await page.waitForURL(({ pathname }) => pathname !== "/sign-in");
    await page.locator("h1").first().waitFor();
    // Data that is still loading would not be checked.
    await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
  }

  it("is shown as text in an answer of the playground", async () => {
    await open(`/playground?model=${encodeURIComponent("demo/echo")}`);
    await page.getByLabel("Pesan", { exact: true }).fill(hostile("answer"));
    await page.keyboard.press("Enter");
    await page.getByTestId("cost").waitFor();
    await expect.poll(() => page.getByText(partOf("answer")).count()).toBe(2); // as it was asked, and as it was answered
    seen.add("answer");
    await expectHarmless();
    await page.getByLabel("Pesan", { exact: true }).fill(HOSTILE_MARKDOWN);
    await page.getByRole("button", { name: "Kirim", exact: true }).click();
    const table = page.getByRole("region", { name: "Tabel" });
    await table.getByText(partOf("cell")).waitFor();
    await page.getByTestId("cost").nth(1).waitFor();
    await expectHarmless();
    // What a model wrote leads nowhere but to whole addresses, and its pictures are links.
    const log = page.getByRole("log");
    const links = await log.locator("a:not([href^='/usage'])").evaluateAll((all) => all.map((each) => each.outerHTML));
    expect(links.map((link) => /href="([^"]*)"/.exec(link)?.[1])).toEqual(["https://saldo.example/whole"]);
    expect(links[0]).toContain('rel="noopener noreferrer nofollow ugc"');
    expect(await log.locator("img, iframe, script, style").count()).toBe(0);
    await stopEverything(dashboard, setup);
    // The open page does not have the reasons of that.
    await open("/");
  });

  it.each([...new Set([...Object.keys(COMES_OUT), ...INSIDE])])("is text on %s", async (path) => {
    const { requestId, transferId, accountId, merchantId } = setup;
    const rows = { REQUEST: requestId, TRANSFER: transferId, ACCOUNT: accountId, MERCHANT: merchantId };
    await goOnTo(addressOf(path, rows));
    const meant = COMES_OUT[path] ?? [];
    const asWritten = (text: string, place: string) => text.includes(written.has(place) ? partOf(place) : place);
    const missing = async () => {
      const text = await textOf();
      return [...meant, HOSTILE_EMAIL].filter((place) => !asWritten(text, place));
    };
    await expect.poll(missing).toEqual([]);
    for (const place of meant) seen.add(place);
    await expectHarmless();
  });

  it("is text in dialogs: the sheet of a model, editing and revoking a key, the code for a request", async () => {
    expect(written).toContain("description");
    await goOnTo("/models");
    await page.getByRole("button", { name: partOf("model-name") }).click();
    await page.getByRole("dialog").getByText(partOf("description")).waitFor();
    await expectHarmless();
    await goOnTo("/keys");
    for (const what of ["Ubah", "Cabut"]) {
      await page.getByRole("button", { name: `${what}: ${hostile("key")}` }).click();
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await expectHarmless();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
    }
    await goOnTo(`/playground?model=${MODEL}`);
    await page.getByLabel("Pesan", { exact: true }).fill(hostile("key"));
    await page.getByRole("button", { name: "Lihat kode" }).click();
    await page.getByRole("dialog").getByText(MODEL_ID).first().waitFor();
    await expectHarmless();
  });

  it("was displayed wherever it was written", () => {
    expect([...written].filter((place) => !seen.has(place))).toEqual([]);
    expect(written.size).toBeGreaterThan(15);
  });

  it.each(IN_ADDRESSES)("is nothing but a value in %s", async (path) => {
    // The document of an address, and the program that reads it.
    const second = IS_LONG || NOWHERE.test(path) ? open : goOnTo;
    const ways = [
      [open, PAYLOADS[0]],
      [second, PAYLOADS[1]],
    ] as const;
    for (const [go, payload] of ways) {
      await go(path.replaceAll("PAYLOAD", encodeURIComponent(payload)));
      await expectHarmless();
      await expect.poll(() => page.locator("h1").count()).toBe(1);
    }
  });

  it.each([
    "javascript:alert(1)",
    "//evil.example/xss",
    "/\t/evil.example/xss",
    "/\\evil.example",
    "https://evil.example/",
  ])("does not redirect to another site after signing in: %j", async (next) => {
    await page.context().clearCookies();
    await open(`/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByRole("button", { name: /demo/i }).click();
    await page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
    expect(page.url()).toBe(`${dashboard.saldo.httpUrl}/`);
    await expectHarmless();
  });
});
