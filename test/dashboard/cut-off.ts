// Calls that do not get through.

import type { BrowserContext, Page } from "playwright-core";

/** No call gets through until the function is called that this gives. */
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
