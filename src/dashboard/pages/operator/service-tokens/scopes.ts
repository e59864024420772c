// The scopes of a service token, in the order in which they are offered.

import { TokenScope } from "#gen/saldo/options/v1/options_pb.ts";

export const SCOPES = {
  read: TokenScope.READ,
  keys: TokenScope.KEYS,
  topUps: TokenScope.TOP_UPS,
  settings: TokenScope.SETTINGS,
  merchants: TokenScope.MERCHANTS,
  transfers: TokenScope.TRANSFERS,
} as const satisfies Record<string, TokenScope>;

/** A scope by its name on the page. */
export type ScopeName = keyof typeof SCOPES;

/** All scopes. */
export const SCOPE_NAMES = Object.keys(SCOPES) as ScopeName[];

/** The names of a token's scopes; one that only a newer server knows is omitted. */
export function scopeNamesOf(scopes: readonly TokenScope[]): ScopeName[] {
  return SCOPE_NAMES.filter((name) => scopes.includes(SCOPES[name]));
}
