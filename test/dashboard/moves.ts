// Moves between pages as the links of the dashboard do: the document stays, which takes a third of the time of a load.

import type { Page, Request } from "playwright-core";
import { expect } from "vitest";

/** An address without a page. What a page kept while it was open ends there. */
const NOWHERE = "/no/such/page";
const TITLE_OF_NOWHERE = /^(Halaman tidak ada|No such page)$/;
/** They stay for some seconds, on any page. */
const NOTICES = "[role=dialog][aria-modal=false]";

/** Leaves the open page, and opens the page at a path, up to its heading. It must be another page than that of nowhere. */
export async function moveTo(page: Page, path: string): Promise<void> {
  // Selected by element: a sheet that an address opens hides the page behind it from screen readers.
  await push(page, NOWHERE);
  await page.locator("h1").filter({ hasText: TITLE_OF_NOWHERE }).waitFor();
  await page.evaluate(`document.querySelector("h1").dataset.left = "";
    for (const button of document.querySelectorAll("${NOTICES} button")) button.click()`);
  await push(page, path);
  await page.locator("h1:not([data-left])").first().waitFor();
}

/** The router follows every entry of the history. */
async function push(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`);
}

/** Counts the calls of a page from now on. The returned function waits until each has ended. */
export function watchCalls(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  const close = (request: Request): void => void open.delete(request);
  page.on("request", (request) => void open.add(request));
  page.on("requestfinished", close).on("requestfailed", close);
  return async () => {
    await expect.poll(() => open.size).toBe(0);
  };
}
