// What a change has changed, as lines of activity logs keep it: texts by name.

/** Texts by name. A name without a text: nothing is set. */
export type Facts = Readonly<Record<string, string | undefined>>;

/** What begins the name of a fact as it was before. */
const BEFORE = "before.";

/**
 * The facts that differ, as they are now and under `before.` as they were. What was not set, or is not set any more, is left out.
 * `together`: names that mean something only with each other; where one differs all are there.
 */
export function changedFacts(before: Facts, after: Facts, together: readonly string[] = []): Record<string, string> {
  const differs = (name: string) => before[name] !== after[name];
  const isShown = (name: string) => differs(name) || (together.includes(name) && together.some(differs));
  const changed: Record<string, string> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isShown(name)) continue;
    const [was, is] = [before[name], after[name]];
    if (is !== undefined) changed[name] = is;
    if (was !== undefined) changed[BEFORE + name] = was;
  }
  return changed;
}
