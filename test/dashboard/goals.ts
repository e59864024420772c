// `npm run dashboard-goals`: the weight of the pages and their load times, on a slow line and a slow phone. Prints
// every figure beside its goal; a missed goal ends with 1. Not part of the tests: the figures depend on the machine.

import process from "node:process";
import type { BrowserContext, Page } from "playwright-core";
import { openOnOwnServer } from "./own-saldo.ts";
import { weighRoutes, weighStyles, type Weight } from "./route-weights.ts";

/** 1.6 Mbit/s with the delay of a mobile line, and a fourth of the machine's speed. */
const SLOW_LINE = { offline: false, downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150 };
const SLOW_CPU = 4;
const PATHS = ["/sign-in", "/", "/usage"];
const SETTLED_MS = 2_000;

type Goal = { readonly name: string; readonly measured: number; readonly most: number; readonly unit: string };

function weights(): Goal[] {
  const { first, others } = weighRoutes();
  const goal = (name: string, { kilobytes, files }: Weight, most: number): Goal => ({
    name: `${name}, ${files} files`,
    measured: kilobytes,
    most,
    unit: "KB gz",
  });
  return [
    goal("first route, JavaScript", first, 200),
    ...others.map((weight) => goal(`${weight.page}, besides the entry`, weight, 40)),
    goal("style sheets", weighStyles(), 12),
  ];
}

async function paints(context: BrowserContext, url: string, path: string): Promise<Goal[]> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  await devtools.send("Network.emulateNetworkConditions", SLOW_LINE);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOW_CPU });
  await page.goto(url + path);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(SETTLED_MS);
  const { lcp, cls } = await observed(page);
  await page.close();
  return [
    { name: `${path} largest paint`, measured: lcp / 1_000, most: 2.5, unit: "s" },
    { name: `${path} layout shift`, measured: cls, most: 0.05, unit: "" },
  ];
}

/** The browser's own measurements, read afterwards. */
function observed(page: Page): Promise<{ lcp: number; cls: number }> {
  return page.evaluate(`new Promise((resolve) => {
    const seen = { lcp: 0, cls: 0 };
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.lcp = entry.startTime; })
      .observe({ type: "largest-contentful-paint", buffered: true });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.cls += entry.value; })
      .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(seen), 200);
  })`);
}

function print({ name, measured, most, unit }: Goal): void {
  const verdict = measured <= most ? "PASS" : "FAIL";
  process.stdout.write(
    `${verdict}  ${name.padEnd(58)} ${measured.toFixed(2).padStart(8)} ${unit.padEnd(5)} (at most ${most})\n`,
  );
}

await using opened = await openOnOwnServer();
const goals = weights();
for (const path of PATHS) {
  const context = path === "/sign-in" ? opened.signedOut : opened.signedIn;
  goals.push(...(await paints(context, opened.url, path)));
}
for (const goal of goals) print(goal);
process.exitCode = goals.every(({ measured, most }) => measured <= most) ? 0 : 1;
