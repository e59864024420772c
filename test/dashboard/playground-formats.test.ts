// The playground asks in each format, streamed and whole, and shows as code exactly what it sent.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objections } from "./objections.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const FORMATS = [
  { id: "chat", method: "StreamChatCompletion", whole: "CreateChatCompletion", path: "/v1/chat/completions" },
  { id: "messages", method: "StreamMessage", whole: "CreateMessage", path: "/v1/messages" },
  { id: "responses", method: "StreamResponse", whole: "CreateResponse", path: "/v1/responses" },
  { id: "gemini", method: "StreamGenerateContent", whole: "GenerateContent", path: ":streamGenerateContent" },
] as const;

describe("the playground, in each format", () => {
  let dashboard: Dashboard;
  let page: Page;
  const called: string[] = [];
  beforeAll(async () => {
    dashboard = await openDashboard();
    const options = { locale: "en-GB", reducedMotion: "reduce" } as const;
    ({ page } = await dashboard.visitDemo("/playground?model=demo%2Fsmall", options));
    await page.evaluate(`localStorage.setItem("saldo.language", "en")`);
    page.on("request", (request) => void called.push(new URL(request.url()).pathname.split("/").at(-1) ?? ""));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  async function open(model: string): Promise<void> {
    await page.goto(`${dashboard.saldo.httpUrl}/playground?model=${encodeURIComponent(model)}`);
    await page.getByLabel("Message", { exact: true }).waitFor();
    called.length = 0;
  }

  async function send(text: string): Promise<void> {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  }

  const code = (): Promise<string> => page.getByRole("dialog").locator("pre").last().innerText();

  it.each(FORMATS)("streams, bills and shows as code: $id", async ({ id, method, path }) => {
    await open("demo/small");
    await page.getByLabel("Format").selectOption(id);
    await send("Hello there !tokens=6");
    expect(await page.getByTestId("cost").textContent()).toMatch(/^Rp\s0\.\d{2,}$/);
    const figures = page.getByText(/\d+ input .*\+ 6 output = \d+ tokens/);
    expect(await figures.count()).toBe(1);
    expect(called).toContain(method);
    await page.getByRole("button", { name: "View code" }).click();
    await expect.poll(code).toContain(path);
    expect(await code()).toContain("Hello there !tokens=6");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: /usage/i }).last().click();
    await page.getByRole("dialog").getByText("Playground", { exact: true }).waitFor();
  });

  it.each(FORMATS)("answers whole: $id", async ({ id, whole }) => {
    await open("demo/small");
    await page.getByLabel("Format").selectOption(id);
    await page.getByLabel("Streaming").uncheck();
    await send("Hello !tokens=5");
    expect(await page.getByTestId("cost").textContent()).toMatch(/^Rp\s0\.\d{2,}$/);
    expect(called).toContain(whole);
  });

  it.each(FORMATS)("shows errors before the answer and inside it: $id", async ({ id }) => {
    await open("demo/small");
    await page.getByLabel("Format").selectOption(id);
    await send("!503x");
    await page.getByRole("alert").getByRole("button", { name: "Send again" }).waitFor();
    await send("!cut");
    const cut = page.getByRole("alert").last();
    await expect.poll(() => page.getByRole("alert").count()).toBe(2);
    expect(await cut.getByRole("button", { name: "Send again" }).count()).toBe(1);
  });

  it("makes a vector with a model for vectors, and shows that request as code", async () => {
    await open("demo/embed");
    await send("Good morning");
    await page.getByText(/^\[-?[\d.e-]+, .*…\] × \d+$/).waitFor();
    await expect.poll(() => page.getByTestId("cost").textContent()).toMatch(/^Rp\s0/);
    expect(called).toContain("CreateEmbeddings");
    await page.getByRole("button", { name: "View code" }).click();
    await expect.poll(code).toContain("/v1/embeddings");
    expect(await code()).toContain('"input":["Good morning"]');
    await page.getByText("Python", { exact: true }).click();
    await expect.poll(code).toContain("client.embeddings.create(");
    expect(await code()).toContain('    input=["Good morning"],');
    await page.keyboard.press("Escape");
  });

  it.each(["id", "en"])("has nothing that axe objects to, on wide and narrow pages: %s", async (language) => {
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    // every-page.ts has the page of a model that answers a chat.
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${dashboard.saldo.httpUrl}/playground?model=demo%2Fembed`);
      await page.locator("select").first().waitFor();
      for (const theme of ["light", "dark"]) {
        await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
        expect(await objections(page), `${width} ${theme}`).toEqual([]);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
  });
});
