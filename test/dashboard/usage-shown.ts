// Reads the usage page like a person with a calculator: every displayed number, added up.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { readCsv } from "./csv-file.ts";

export const UNITS = ["Rp", "Token", "Permintaan"] as const;

/**
 * Whole hundredths of a rupiah, from `Rp 1.234,50`. A number with more decimals cannot be added up, and is an error.
 */
export function hundredths(text: string): bigint {
  const found = /^Rp\s([\d.]+),(\d\d)$/.exec(text);
  if (found === null) throw new Error(`not an amount with two decimals: ${text}`);
  return BigInt(`${found[1]?.replaceAll(".", "")}${found[2]}`);
}

/** A whole number with separators of thousands. */
export function whole(text: string): bigint {
  if (!/^[\d.]+$/.test(text)) throw new Error(`not a whole number: ${text}`);
  return BigInt(text.replaceAll(".", ""));
}

/** Millionths, from a decimal string such as `12.345678`. */
export function millionths(text: string): bigint {
  const found = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (found === null) throw new Error(`not a decimal: ${text}`);
  return BigInt(`${found[1]}${(found[2] ?? "").padEnd(6, "0")}`);
}

export const sum = (numbers: readonly bigint[]): bigint => numbers.reduce((total, each) => total + each, 0n);

/** The two numbers at the top. */
export async function readTotals(page: Page): Promise<{ cost: string; requests: string }> {
  const [cost = "", requests = ""] = await Promise.all(
    ["total-cost", "total-requests"].map((id) => page.getByTestId(id).textContent().then(String)),
  );
  return { cost, requests };
}

const cardOf = (page: Page, title: string) =>
  page.locator("section", { has: page.getByRole("heading", { level: 2, name: title, exact: true }) });

/** The sums of the legend and of the table below the chart, in each unit. The title names what the bars are stacked of. */
export async function readChart(
  page: Page,
  title = "Per model per hari",
): Promise<{ unit: string; legend: bigint; table: bigint }[]> {
  const card = cardOf(page, title);
  const read = [];
  for (const unit of UNITS) {
    await card.getByRole("group", { name: "Satuan" }).getByText(unit, { exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("unit") === addressOf(unit));
    const number = unit === "Rp" ? hundredths : whole;
    const legend = await card.locator("ul > li > span:last-child").allTextContents();
    const table = await card.locator("details tbody td:last-child").allTextContents();
    read.push({ unit, legend: sum(legend.map(number)), table: sum(table.map(number)) });
  }
  return read;
}

function addressOf(unit: (typeof UNITS)[number]): string | null {
  return { Rp: null, Token: "tokens", Permintaan: "requests" }[unit];
}

/** A row for every model of every day: the day as displayed, the model, the requests, the cost. */
export async function readDays(page: Page): Promise<{ day: string; model: string; requests: bigint; cost: bigint }[]> {
  const card = cardOf(page, "Rincian");
  const more = card.getByRole("button", { name: "Muat lebih banyak" });
  while ((await more.count()) > 0) await more.click();
  const cells = await card
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  return cells.map(([day = "", model = "", requests = "", , , , cost = ""]) => ({
    day,
    model,
    requests: whole(requests),
    cost: hundredths(cost),
  }));
}

/** The ids of the listed requests. */
export async function readRequests(page: Page): Promise<string[]> {
  const card = cardOf(page, "Rincian");
  await card.getByRole("group", { name: "Tampilan" }).getByText("Permintaan", { exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get("tab") === "requests");
  const more = card.getByRole("button", { name: "Muat lebih banyak" });
  const rows = card.locator("tbody tr");
  await rows.first().waitFor();
  while ((await more.count()) > 0) {
    const before = await rows.count();
    await more.click();
    await rows.nth(before).waitFor();
  }
  const names = await card.locator("tbody tr button .sr-only").allTextContents();
  return names.map((name) => name.replace("Buka permintaan ", ""));
}

/** The file that the button downloads, and its name. */
export async function downloadCsv(page: Page): Promise<{ name: string; records: Record<string, string>[] }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Ekspor CSV" }).click(),
  ]);
  return { name: download.suggestedFilename(), records: readCsv(await readFile(await download.path(), "utf8")) };
}
