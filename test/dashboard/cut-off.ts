// Calls that fail on the network.

import type { BrowserContext, Page } from "playwright-core";

/** Blocks every call until the returned function is called. */
export async function cutOff(
  place: Page | BrowserContext,
  calls: RegExp,
): Promise<{ refused: () => number; mend: () => Promise<void> }> {
  let refused = 0;
  await place.route(calls, (route) => {
    refused += 1;
    return route.abort();
  });
  return { refused: () => refused, mend: () => place.unroute(calls) };
}
