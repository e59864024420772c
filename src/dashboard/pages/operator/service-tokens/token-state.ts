// Whether a service token works.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

export type TokenState = "working" | "expired" | "revoked";

type Ends = { readonly expiresAt?: Timestamp | undefined; readonly revokedAt?: Timestamp | undefined };

/** What the server would say of a call with the token now. */
export function stateOf({ expiresAt, revokedAt }: Ends, nowMs: number): TokenState {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && timestampMs(expiresAt) <= nowMs ? "expired" : "working";
}

/** Those that work come first; otherwise the order stays. */
export function workingFirst<Token extends Ends>(tokens: readonly Token[], nowMs: number): Token[] {
  const isWorking = (token: Token) => stateOf(token, nowMs) === "working";
  return [...tokens.filter(isWorking), ...tokens.filter((token) => !isWorking(token))];
}
