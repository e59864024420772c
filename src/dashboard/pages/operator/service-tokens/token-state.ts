// Whether a service token works.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

export type TokenState = "working" | "expired" | "revoked";

type Ends = { readonly expiresAt?: Timestamp | undefined; readonly revokedAt?: Timestamp | undefined };

/** Whether the server would accept the token now, and if not, why. */
export function stateOf({ expiresAt, revokedAt }: Ends, nowMs: number): TokenState {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && timestampMs(expiresAt) <= nowMs ? "expired" : "working";
}

/** Working tokens come first; otherwise the order stays. */
export function workingFirst<Token extends Ends>(tokens: readonly Token[], nowMs: number): Token[] {
  const isWorking = (token: Token) => stateOf(token, nowMs) === "working";
  return [...tokens.filter(isWorking), ...tokens.filter((token) => !isWorking(token))];
}
