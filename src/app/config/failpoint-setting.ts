import { type Failpoint, FAILPOINTS } from "../../kernel/failpoint.ts";

/** The place to die at, when it is reached for the nth time. */
export type FailpointSetting = { readonly name: Failpoint; readonly nth: number };

/** Reads `name` or `name:nth`. Undefined: there is no such place. */
export function parseFailpoint(text: string): FailpointSetting | undefined {
  const [, name, nth = "1"] = /^([a-z-]+)(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  const known = FAILPOINTS.find((each) => each === name);
  return known === undefined ? undefined : { name: known, nth: Number(nth) };
}
