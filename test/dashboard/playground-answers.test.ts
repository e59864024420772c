// Answers of the playground: rendered as Markdown, and those of two models side by side, each billed.

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objections } from "./objections.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { millionths } from "./usage-shown.ts";

const MARKDOWN = `# Judul

Teks **tebal** dan \`kode\`, dengan [tautan](https://saldo.example/a).

1. satu
2. dua

| bulan | jumlah |
|---|---|
| November | 3 |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\``;
const LOOKS = [
  { width: 1280, theme: "light" },
  { width: 360, theme: "dark" },
] as const;

describe("answers of the playground", () => {
  let dashboard: Dashboard;
  let page: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = await dashboard.visitDemo("/playground", { reducedMotion: "reduce" }));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const open = (path: string) => page.goto(dashboard.saldo.httpUrl + path);
  async function send(text: string): Promise<void> {
    await page.getByLabel("Pesan", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Kirim", exact: true }).click();
  }
  const answersOf = (turn: number): Locator => page.getByRole("log").locator("ol > li").nth(turn);

  async function expectInOrder(): Promise<void> {
    for (const { width, theme } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      expect(await objections(page), `${width} ${theme}`).toEqual([]);
      const overflow = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      await expect.poll(overflow).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }

  it("are rendered as Markdown", async () => {
    await open("/playground?model=demo%2Fecho");
    await send(MARKDOWN);
    const answer = answersOf(0);
    await answer.getByRole("region", { name: "Tabel" }).getByRole("cell", { name: "November" }).waitFor();
    await answer.getByTestId("cost").waitFor();
    expect(await answer.locator("strong").first().textContent()).toBe("tebal");
    expect(await answer.locator("ol > li").allTextContents()).toEqual(["satu", "dua"]);
    expect(await answer.locator("pre").textContent()).toBe("const a = 1;\n\nconst b = 2;");
    expect(await answer.getByRole("link", { name: "tautan" }).getAttribute("href")).toBe("https://saldo.example/a");
    await expectInOrder();
  });

  it("of two models are side by side, each with its own cost and time, and each is billed", async () => {
    await open("/playground?model=demo%2Fsmall");
    await page.getByLabel("Bandingkan dengan").selectOption("demo/large");
    await expect.poll(() => new URL(page.url()).searchParams.get("compare")).toBe("demo/large");
    for (const [turn, text] of ["Halo !tokens=20", "Lagi !tokens=30"].entries()) {
      await send(text);
      await expect.poll(() => answersOf(turn).getByTestId("cost").count()).toBe(2);
      await expect.poll(() => answersOf(turn).getByTestId("duration").count()).toBe(2);
    }
    const links = await page
      .getByRole("link", { name: "Lihat di pemakaian" })
      .evaluateAll((all) =>
        all.map((each) => new URL(each.getAttribute("href") ?? "", "http://x").searchParams.get("request")),
      );
    expect(new Set(links).size).toBe(4);
    const shown = await page.getByRole("log").getByTestId("cost").allTextContents();
    await expect.poll(() => billed(links)).toHaveLength(links.length);
    const records = await billed(links);
    expect(records.map(({ model }) => model)).toEqual(["demo/small", "demo/large", "demo/small", "demo/large"]);
    expect(shown.map(unitsOf)).toEqual(records.map(({ charge }) => charge));
    // Each model has its own answers before it, so the second question is longer.
    expect(records[2]?.input).toBeGreaterThan(records[0]?.input ?? 0);
    expect(records[3]?.input).toBeGreaterThan(records[1]?.input ?? 0);
    await expectInOrder();
  });

  it("fail alone, and are sent again alone", async () => {
    await open("/playground?model=demo%2Fsmall&compare=demo%2Flarge");
    const stop = /StreamChatCompletion/;
    let calls = 0;
    await page.route(stop, (route) => (calls++ === 0 ? route.abort() : route.continue()));
    await send("Halo !tokens=20");
    const turn = answersOf(0);
    await turn.getByRole("button", { name: "Kirim lagi" }).waitFor();
    await expect.poll(() => turn.getByTestId("cost").count()).toBe(1);
    await turn.getByRole("button", { name: "Kirim lagi" }).click();
    await expect.poll(() => turn.getByTestId("cost").count()).toBe(2);
    expect(calls).toBe(3);
    await page.unroute(stop);
  });

  it("of the other model are removed where another one is chosen", async () => {
    await open("/playground?model=demo%2Fsmall&compare=demo%2Flarge");
    await send("Halo !tokens=20");
    await expect.poll(() => answersOf(0).getByTestId("cost").count()).toBe(2);
    await page.getByLabel("Bandingkan dengan").selectOption("demo/vision");
    await expect.poll(() => answersOf(0).getByTestId("cost").count()).toBe(1);
    await send("Lagi !tokens=20");
    await expect.poll(() => answersOf(1).getByTestId("cost").count()).toBe(2);
    expect(await answersOf(1).getByText("demo/vision", { exact: true }).count()).toBe(1);
    // The model that is asked is not offered for a comparison with itself.
    const offered = await page.getByLabel("Bandingkan dengan").locator("option").allTextContents();
    expect(offered).not.toContain("demo/small");
    expect(offered).toContain("demo/vision");
  });

  async function billed(requestIds: readonly (string | null)[]) {
    const { rows } = await dashboard.database.database.pool.query<{
      id: string;
      model: string;
      charge: bigint;
      input: number;
    }>(
      `SELECT request_id AS id, model, charge, input_tokens_uncached + input_tokens_cached AS input
       FROM usage_record WHERE request_id = ANY ($1::uuid[])`,
      [requestIds],
    );
    return rows.toSorted((a, b) => requestIds.indexOf(a.id) - requestIds.indexOf(b.id));
  }
});

/** Millionths of a rupiah of an amount as it is written in Indonesian. */
function unitsOf(text: string): bigint {
  return millionths(text.replace(/^Rp\s/, "").replaceAll(".", "").replace(",", "."));
}
