// `SALDO_TEST_DELAY=SEED`: every call of a page reaches the service up to 400 ms late, each by another time. A test that reads
// what is still on its way then fails on a machine of any pace.

import type { BrowserContext } from "playwright-core";
import { seededRandom } from "../money/random.ts";

const LATEST_MS = 400;
const CALLS = /\/(?:saldo\.[^/]+|auth)\//;

/** Gives what delays the calls of a profile; without the setting, nothing does. */
export function createDelay(seed = process.env["SALDO_TEST_DELAY"]): (context: BrowserContext) => Promise<void> {
  if (seed === undefined) return async () => {};
  const random = seededRandom(Number(seed));
  return async (context) => {
    await context.route(CALLS, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, random() * LATEST_MS));
      await route.continue();
    });
  };
}
