// What a service token may do, in the order in which it is offered.

import { TokenScope } from "#gen/saldo/options/v1/options_pb.ts";

export const SCOPES = {
  read: TokenScope.READ,
  keys: TokenScope.KEYS,
  topUps: TokenScope.TOP_UPS,
  settings: TokenScope.SETTINGS,
  merchants: TokenScope.MERCHANTS,
  transfers: TokenScope.TRANSFERS,
} as const satisfies Record<string, TokenScope>;

/** A scope as the page names it. */
export type ScopeName = keyof typeof SCOPES;

/** Every scope there is. */
export const SCOPE_NAMES = Object.keys(SCOPES) as ScopeName[];

/** The names of a token's scopes; one that only a newer server knows is left out. */
export function scopeNamesOf(scopes: readonly TokenScope[]): ScopeName[] {
  return SCOPE_NAMES.filter((name) => scopes.includes(SCOPES[name]));
}
