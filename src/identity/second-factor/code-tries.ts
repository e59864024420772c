// How often codes of a person may be tried. An app's code has six digits, so guessing is slow only if
// tries are few: six at once, then one in two minutes, from all networks and sessions together.

import { createHash } from "node:crypto";
import type { Pace } from "../throttle.ts";

export const CODE_TRIES: Pace = { burst: 6, intervalSeconds: 120 };
/** A code of an app works for 30 seconds, and once. */
export const ONE_USE: Pace = { burst: 1, intervalSeconds: 60 };

/** The bucket of a person's tries. */
export function triesOf(personId: string): string {
  return `code ${personId}`;
}

/** The bucket of one code of a person. */
export function useOf(personId: string, code: string): string {
  return `code ${personId} ${createHash("sha256").update(code).digest("hex")}`;
}
