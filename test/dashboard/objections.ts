// The violations that axe finds on a page. It runs in the page itself: the library around it opens a page of its own
// for each check, and takes many times as long. Buttons and links must be large enough or far enough apart; axe has
// that rule, switched off by default.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** The compressed form: the other one is twice as long, and is sent to each document. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** The violated rules, and the elements that violate them. */
export async function objections(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"], preload: { assets: ["media"] }, rules: { "target-size": { enabled: true } } }).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}
