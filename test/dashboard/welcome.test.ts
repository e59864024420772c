// What people without a session see: the welcome at "/", models with their prices, and the way to signing in or up. The
// language is the browser's.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { moveTo } from "./moves.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const TITLES = {
  id: "Satu kunci untuk semua model, dibayar dalam rupiah",
  en: "One key for every model, paid in rupiah",
} as const;

describe("a stranger", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  /** The rows of the table of models, as cells. */
  const rowsOf = (page: Page) =>
    page
      .getByRole("row")
      .evaluateAll((rows) =>
        rows.map((row) =>
          [...row.children].map(({ textContent }: { textContent: string | null }) =>
            (textContent ?? "").replaceAll("\u00a0", " "),
          ),
        ),
      );

  it("is welcomed with models, prices and a request to copy, and asks for no session", async () => {
    const { page, context } = await dashboard.visit("/robots.txt");
    const calls: string[] = [];
    page.on("request", (request) => void calls.push(new URL(request.url()).pathname));
    await page.goto(dashboard.saldo.httpUrl);
    await page.getByRole("heading", { level: 1, name: TITLES.id }).waitFor();
    await page.getByText("Rp 80.000").waitFor();
    const rows = await rowsOf(page);
    expect(rows).toContainEqual([
      "Demo Large-20%demo/large",
      "demo/large",
      "1.05M",
      "Rp 20.000",
      "Rp 3.800 (19%)",
      "Rp 80.000",
    ]);
    await expect
      .poll(() => page.getByLabel("Permintaan pertama Anda", { exact: true }).textContent())
      .toContain(`curl ${dashboard.saldo.httpUrl}/v1/chat/completions`);
    expect(calls.filter((path) => path.startsWith("/saldo.") || path.startsWith("/auth/"))).toEqual([
      "/saldo.gateway.v1.PublicCatalogService/ListPublicModels",
    ]);
    const main = page.getByRole("main");
    for (const [name, path] of [
      ["Daftar", "/sign-up"],
      ["Masuk", "/sign-in"],
      ["Dokumentasi", "/docs"],
    ] as const)
      expect(await main.getByRole("link", { name, exact: true }).getAttribute("href")).toBe(path);
    await context.close();
  });

  it.each([
    ["id-ID", "id"],
    ["en-GB", "en"],
    ["ja-JP", "en"],
  ] as const)(
    "with a browser in %s reads in %s, before and after the program has arrived",
    async (locale, language) => {
      const { page, context } = await dashboard.visit("/robots.txt", { locale });
      const program = /\/assets\/index-[^/]*\.js$/;
      await page.route(program, (route) => route.abort());
      await page.goto(dashboard.saldo.httpUrl);
      const heading = page.getByRole("heading", { level: 1 });
      // Placed and worded as the program shows it: nothing moves when that arrives.
      const shown = async () => [await heading.textContent(), await heading.boundingBox()];
      const first = await shown();
      expect(first[0]).toBe(TITLES[language]);
      await page.unroute(program);
      await page.goto(dashboard.saldo.httpUrl);
      await page.getByText("Demo Large").waitFor();
      expect(await shown()).toEqual(first);
      expect(await page.evaluate("document.documentElement.lang")).toBe(language);
      await context.close();
    },
  );

  it("opens a model by its row, and its page by its address", async () => {
    const { page, context } = await dashboard.visit("/");
    await page.getByRole("button", { name: "Demo Large" }).click();
    await page.getByRole("heading", { level: 1, name: "Demo Large" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/models/demo/large");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Demo Large" }).waitFor();
    await page.getByRole("link", { name: "Semua model" }).click();
    await page.getByRole("button", { name: "Demo Vision" }).click();
    await page
      .getByRole("dialog", { name: "Demo Vision" })
      .getByRole("link", { name: "Buka halaman model ini" })
      .click();
    await page.getByRole("heading", { level: 1, name: "Demo Vision" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/models/demo/vision");
    await context.close();
  });

  it("is found by search engines, with what is public and a description", async () => {
    const robots = await (await fetch(`${dashboard.saldo.httpUrl}/robots.txt`)).text();
    for (const path of ["/$", "/assets/", "/models", "/status", "/docs", "/llms.txt"])
      expect(robots).toContain(`\nAllow: ${path}\n`);
    expect(robots.trimEnd()).toMatch(/\nDisallow: \/$/);
    const html = await (await fetch(dashboard.saldo.httpUrl)).text();
    expect(html).toMatch(/<title>Saldo: .*rupiah<\/title>/);
    expect(html).toMatch(/<meta\s+name="description"\s+content="[^"]{80,}"/);
  });

  it.each([
    ["id-ID", "rupiah per 1 juta token"],
    ["en-GB", "rupiah per 1M tokens"],
  ])("sees the unit of prices on the page of a model: %s", async (locale, unit) => {
    const { page, context } = await dashboard.visit("/models/demo/large", { locale });
    await page.getByText("Rp 80.000").or(page.getByText("Rp 80,000")).first().waitFor();
    expect(await page.getByRole("definition").filter({ hasText: unit }).count()).toBe(1);
    await context.close();
  });

  it("is led to signing in by the address of a page that needs a session, and back to it", async () => {
    const { page, context } = await dashboard.visit("/usage?days=7");
    await page.getByRole("button", { name: /demo/i }).click();
    await page.waitForURL(({ pathname, search }) => pathname === "/usage" && search === "?days=7");
    await page.getByRole("heading", { level: 1, name: "Pemakaian" }).waitFor();
    // With the session, the same address is the person's own page.
    await moveTo(page, "/");
    await page.getByRole("heading", { level: 1, name: "Ringkasan" }).waitFor();
    await page.goto(dashboard.saldo.httpUrl);
    await page.getByRole("heading", { level: 1, name: "Ringkasan" }).waitFor();
    expect(await page.getByText(TITLES.id).count()).toBe(0);
    await context.close();
  });

  it("signs up in the browser's language, which mails and the account keep", async () => {
    const { page, context } = await dashboard.visit("/", { locale: "en-GB" });
    await page.getByRole("main").getByRole("link", { name: "Sign up" }).click();
    const email = "newcomer@saldo.example";
    await page.getByLabel("Name").fill("Siti");
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("kuda laut menari di pagi hari");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByRole("heading", { name: "Check your mail" }).waitFor();
    expect(await dashboard.mails.to(email, /verify-email/)).toMatch(/Open this link[^]*Buka tautan/);
    await page.goto(await dashboard.mails.linkTo(email, /verify-email/));
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const { pool } = dashboard.database.database;
    const language = async () => (await pool.query("SELECT language FROM customer WHERE email = $1", [email])).rows;
    await expect.poll(language).toEqual([{ language: "en" }]);
    await context.close();
  });

  it("searches the reference, opens an operation by its address, and unfolds its fields", async () => {
    const { page, context } = await dashboard.visit("/docs", { locale: "en-GB" });
    await page.getByRole("navigation", { name: "Pages of the documentation" }).getByText("API reference").click();
    await page.getByLabel("Search the reference").fill("reasoning_effort");
    const operations = page.getByRole("main").getByRole("listitem").filter({ hasText: "/v1/" });
    await expect.poll(() => operations.count()).toBe(1);
    await operations.getByRole("link").click();
    await page.waitForURL(({ searchParams }) => searchParams.get("op") === "createChatCompletion");
    await page.reload();
    await page.getByRole("heading", { name: "Answers a conversation" }).waitFor();
    const command = page.getByLabel("Example request", { exact: true });
    expect(await command.textContent()).toContain(`curl '${dashboard.saldo.httpUrl}/v1/chat/completions'`);
    await page.locator("summary").filter({ hasText: "Fields of messages" }).click();
    await page.getByText("tool_call_id").first().waitFor();
    await page.getByRole("link", { name: "All operations" }).click();
    await expect.poll(() => page.getByLabel("Search the reference").inputValue()).toBe("reasoning_effort");
    await context.close();
  });
});
