// `SALDO_TEST_DELAY=SEED`: every call of a page reaches the service up to 400 ms late, each by another delay. A test
// that reads data before it has loaded then fails on a fast machine too.

import type { BrowserContext } from "playwright-core";
import { seededRandom } from "../money/random.ts";

const LATEST_MS = 400;
const CALLS = /\/(?:saldo\.[^/]+|auth)\//;

/** Returns the function that delays the calls of a profile; without the setting it does nothing. */
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
