// Which names a request may have where its client's bytes pass: a server that ignores the case of names would read `Service_Tier` as one
// of them, unchecked, and what has no name here has no price and no check.

import { otherSpelling } from "../request/known-names.ts";
import type { Problems } from "./problems.ts";

/** Why a member does not pass that is new, or of another service. */
export const NOT_KNOWN = "is not known here, so what it would be charged is not known either";

/** The names that a protocol has for members. */
export type KnownNames = {
  readonly names: ReadonlySet<string>;
  /** What lies within these is the client's own JSON. */
  readonly ownJson: ReadonlySet<string>;
};

/** Names each member that differs from a known one by its case alone, wherever it is. */
export function refuseOtherSpellings(value: unknown, where: string, known: KnownNames, problems: Problems): void {
  if (typeof value !== "object" || value === null || problems.isFull) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseOtherSpellings(item, `${where}[${index}]`, known, problems);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const found = otherSpelling(name, known.names, where);
    if (found !== null) problems.add(found.field, found.rule, found.message);
    if (!known.ownJson.has(name))
      refuseOtherSpellings(member, where === "" ? name : `${where}.${name}`, known, problems);
  }
}
