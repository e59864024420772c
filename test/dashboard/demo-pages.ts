// What the test suite and the programs beside it both do before they look at a page.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

const BUILD = fileURLToPath(new URL("../../.ci/build-dashboard.mjs", import.meta.url));

/** Builds the pages, if they are not built yet. */
export async function buildPages(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD]);
}

/** Signs in as the demo's person, by the button of the sign-in page that is open. */
export async function signInToDemo(page: Page): Promise<void> {
  await page.getByRole("button", { name: /demo/i }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
}
