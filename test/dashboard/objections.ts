// What axe objects to on a page. Run in the page itself: the library around it opens a page of its own for each look, and takes
// many times as long. What is pressed must be large enough or stand apart enough; that rule axe has, and leaves off.

import axe from "axe-core";
import type { Page } from "playwright-core";

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** The rules that are broken, and by what. */
export async function objections(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}
