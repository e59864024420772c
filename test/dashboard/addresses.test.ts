// Addresses that no click produces: cut off, mistyped, of another time. Every page with a search keeps the valid fields
// of its address and treats the others as absent.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { moveTo, watchCalls } from "./moves.ts";
import { filesOfPage } from "./route-weights.ts";

/** Invalid values of a field, as the router reads them: texts, numbers, lists, objects, nothing. */
const NONSENSE = [
  "zzz",
  "-1",
  "9999-12-31",
  "2026-02-30",
  "%22%22",
  "[1,2]",
  '{"a":1}',
  "true",
  "",
  "%3Cb%3Ex",
] as const;

/** Invalid ranges of days, and invalid filters. */
const NO_RANGES = [
  "from=2026-02-30&to=2026-03-01",
  "from=2026-11-20&to=2026-11-01",
  "from=9999-12-30&to=9999-12-31",
  "days=-1",
  "days=5000000",
  "status=zzz&unit=zzz&tab=zzz&key=zzz",
] as const;

/** The pages that read their address, with every name that one of them reads. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "/usage": ["days", "from", "to", "model", "key", "status", "tab", "unit", "request"],
  "/models": ["q", "takes", "sort", "model"],
  "/playground": ["model"],
  "/keys": ["create"],
  "/billing": ["topUp"],
  "/transfers/sandbox": ["status"],
  "/transfers/sandbox/callbacks": ["delivery"],
  "/operator": [],
  "/operator/catalog": ["view", "q", "model", "version"],
  "/operator/upstreams": ["upstream"],
  "/operator/accounts": ["q"],
  "/operator/ledger": ["view", "account", "reason", "reference", "group", "asset", "from", "to", "open"],
  "/operator/transfers": ["name", "account", "environment", "status", "approval", "transfer"],
  "/operator/top-ups": ["account", "provider", "state", "problems", "topUp"],
  "/operator/fees": ["merchant", "old"],
  "/operator/margin": ["from", "to", "by"],
  "/operator/approvals": ["state", "approval"],
  "/operator/security": ["person", "account", "kind", "outcome", "reads", "event"],
  "/operator/log": ["operator", "action", "subject", "from", "to", "open"],
};

const RANGE = /^\d{1,2} \w{3}( \d{4})? – \d{1,2} \w{3}( \d{4})? · WIB \(UTC\+7\)$/;

describe("an invalid address", () => {
  let dashboard: Dashboard;
  let page: Page;
  let untilAnswered: () => Promise<void>;
  /** Pages without the program: with a session, and without one. */
  let bare: Page;
  let bareOutside: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const inside = await dashboard.visitDemo("/settings");
    ({ page } = inside);
    untilAnswered = watchCalls(page);
    bare = await inside.context.newPage();
    ({ page: bareOutside } = await dashboard.visit("/robots.txt"));
    for (const each of [bare, bareOutside]) await each.route("**/assets/index-*.js", (route) => route.abort());
  });
  afterAll(() => dashboard.close());

  const open = (path: string) => page.goto(dashboard.saldo.httpUrl + path);
  it.each(Object.entries(PAGES))("opens %s as it is without one", async (path, names) => {
    await moveTo(page, path);
    const title = await page.locator("h1").textContent();
    const nonsense = names.map((name, index) => `${name}=${encodeURI(NONSENSE[index % NONSENSE.length] ?? "")}`);
    const address = `${path}?${nonsense.join("&")}`;
    await open(address);
    await expect.poll(() => page.locator("h1").textContent()).toBe(title);
    // Sections load their data after the title is shown; an error there must not replace the page.
    await untilAnswered();
    expect(await page.locator("h1").textContent()).toBe(title);
    expect(await page.locator("nav[aria-label='Navigasi utama']").count()).toBe(1);
  });

  it.each([
    ["/", "overview-page"],
    ["/usage?days=7", "usage-page"],
    ["/sign-in", "sign-in-page"],
    ["/sign-up", "sign-up-page"],
    ["/forgot-password", "forgot-password-page"],
    ["/reset-password?token=x", "reset-password-page"],
    ["/models", "models-page"],
    ["/playground", "playground-page"],
    ["/keys", "keys-page"],
    ["/billing", "billing-page"],
    ["/settings", "settings-page"],
    ["/docs/errors", "docs-page"],
    ["/constructor", null],
  ])("fetches all files of the page of %s without waiting for the program", async (path, name) => {
    expect(await filesFetchedBy(bare, path)).toEqual(filesNeededBy(name));
  });

  it.each([
    ["/", "welcome-page"],
    ["/models", "models-page"],
    ["/docs/errors", "docs-page"],
    ["/sign-up", "sign-up-page"],
    ["/usage?days=7", "sign-in-page"],
    ["/constructor", null],
  ])("fetches for strangers all files of the page of %s", async (path, name) => {
    expect(await filesFetchedBy(bareOutside, path)).toEqual(filesNeededBy(name));
  });

  const filesNeededBy = (name: string | null) =>
    new Set(name === null ? [] : filesOfPage(name).map((file) => `/${file}`));

  async function filesFetchedBy(opened: Page, path: string): Promise<ReadonlySet<string>> {
    await opened.goto(dashboard.saldo.httpUrl + path);
    const links = opened.locator("link[rel=modulepreload]");
    return new Set(await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? "")));
  }

  it("shows the usual thirty days of usage", async () => {
    await moveTo(page, "/usage");
    const usual = await page.getByText(RANGE).textContent();
    const cost = await page.getByTestId("total-cost").textContent();
    for (const search of NO_RANGES) {
      await moveTo(page, `/usage?${search}`);
      await expect.poll(() => page.getByTestId("total-cost").textContent(), { message: search }).toBe(cost);
      await untilAnswered();
      expect(await page.getByText(RANGE).textContent(), search).toBe(usual);
      expect(await page.getByLabel("30 hari", { exact: true }).isChecked(), search).toBe(true);
      expect(await page.getByRole("main").getByRole("alert").count(), search).toBe(0);
    }
  });

  it.each(["/transfers/elsewhere", "/transfers/elsewhere/new", "/no/such/page"])(
    "shows that %s does not exist",
    async (path) => {
      const answer = await open(path);
      expect(answer?.status()).toBe(404);
      await page.getByRole("heading", { level: 1, name: "Halaman tidak ada" }).waitFor();
    },
  );

  it("shows that within the frame, where only a page of the documentation is missing", async () => {
    await open("/docs/zzz");
    await page.getByRole("heading", { level: 1, name: "Halaman tidak ada" }).waitFor();
    await expect.poll(() => page.title()).toBe("Halaman tidak ada · Saldo");
    expect(await page.getByRole("main").count()).toBe(1);
    expect(await page.getByRole("banner").count()).toBe(1);
  });

  it("finds no transfer by an invalid id", async () => {
    await open("/transfers/sandbox/zzz");
    await page.getByText("Transfer ini tidak ada").waitFor();
    expect(await page.locator("h1").textContent()).toBe("Transfer");
    expectNoComplaints(dashboard);
  });
});
