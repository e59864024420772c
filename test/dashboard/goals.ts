// `npm run dashboard-goals`: the weight of the pages and their load times, on a slow line and a slow phone. Prints
// every figure beside its goal; a missed goal ends with 1. Not part of the tests: the figures depend on the machine.

import process from "node:process";
import type { BrowserContext, Page } from "playwright-core";
import { openOnOwnServer } from "./own-saldo.ts";
import { weighRoutes, weighStyles, type Weight } from "./route-weights.ts";

/** 1.6 Mbit/s with the delay of a mobile line, and a fourth of the machine's speed. */
const SLOW_LINE = { offline: false, downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150 };
const SLOW_CPU = 4;
/** The pages without a session, and those with one, with the most seconds until the largest paint. */
const OUTSIDE = { "/": 2, "/models": 2.5, "/sign-in": 2.5 };
const INSIDE = { "/": 2.5, "/usage": 2.5 };
const SETTLED_MS = 2_000;

type Goal = { readonly name: string; readonly measured: number; readonly most: number; readonly unit: string };

type Visit = { readonly url: string; readonly path: string; readonly most: number; readonly who: string };

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

async function paints(context: BrowserContext, { url, path, most, who }: Visit): Promise<Goal[]> {
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
    { name: `${path} ${who}, largest paint`, measured: lcp / 1_000, most, unit: "s" },
    { name: `${path} ${who}, layout shift`, measured: cls, most: 0.05, unit: "" },
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
const { url } = opened;
for (const [path, most] of Object.entries(OUTSIDE))
  goals.push(...(await paints(opened.signedOut, { url, path, most, who: "for strangers" })));
for (const [path, most] of Object.entries(INSIDE))
  goals.push(...(await paints(opened.signedIn, { url, path, most, who: "with a session" })));
for (const goal of goals) print(goal);
process.exitCode = goals.every(({ measured, most }) => measured <= most) ? 0 : 1;
