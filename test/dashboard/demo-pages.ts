// Shared by the test suite and the programs beside it: preparing the pages.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

const BUILD = fileURLToPath(new URL("../../.ci/build-dashboard.mjs", import.meta.url));

/** Builds the pages, if they are not built yet. */
export async function buildPages(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD]);
}

/** Signs in as the demo's person, by the button of the open sign-in page. */
export async function signInToDemo(page: Page): Promise<void> {
  await page.getByRole("button", { name: /demo/i }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
}
