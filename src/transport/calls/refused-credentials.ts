// Counts unknown credentials per network of their sender in any 60 seconds. Each costs a query of the database, so a network that
// has sent too many is refused before the query. Credentials that worked in this process before still work from that network:
// a neighbour who guesses does not lock other callers out.
//
// The counts are in memory and per process. They bound work and need not be exact, and a stranger must not cause writes.

import { LRUCache } from "lru-cache";
import { wideNetworkOf } from "../../identity/client-network.ts";
import type { RecordSecurityEvent, SecurityEventKind } from "../../identity/security-log.ts";
import type { Clock } from "../../kernel/clock.ts";
import { TooManyRequests } from "../../kernel/errors.ts";
import { addressOf, type CallSource } from "./client-address.ts";

export type CredentialKind = "key" | "pair" | "token" | "session";

export type RefusedCredentials = {
  /**
   * Errors: TooManyRequests when the sender's network has sent too many unknown ones and this credential never worked here.
   */
  refuseUnknown(source: CallSource | null, kind: CredentialKind, secret: string): void;
  /** Counts an unknown credential. */
  count(source: CallSource | null, kind: CredentialKind, secret: string): void;
};

export type RefusedCredentialsDependencies = {
  /** The most that a network may send in any 60 seconds; 0: any number. */
  readonly limit: number;
  /** How many of our proxies are before the HTTP port. */
  readonly trustedProxies: number;
  /** Whether a credential has worked in this process; it may have been revoked since. */
  readonly hasWorked: Readonly<Record<CredentialKind, (secret: string) => boolean>>;
  /** Whether a Cookie header names a session at all. */
  readonly namesSession: (cookies: string) => boolean;
  readonly recordSecurityEvent: RecordSecurityEvent;
  readonly clock?: Clock;
};

const WINDOW_MS = 60_000;
const MAX_NETWORKS = 10_000;
const EVENT_KINDS = {
  key: "key_authentication",
  pair: "pair_authentication",
  token: "token_authentication",
  session: "session_authentication",
} as const satisfies Record<CredentialKind, SecurityEventKind>;
/** A kind and four characters, as secrets are shown to their owners. A text of another form may be a password. */
const SHOWN = /^(gw_|st_|mk_test_|mk_)[0-9A-Za-z]{4}/;

/** Makes the count of one process. */
export function createRefusedCredentials(dependencies: RefusedCredentialsDependencies): RefusedCredentials {
  const { limit, trustedProxies, hasWorked, namesSession, recordSecurityEvent } = dependencies;
  const clock = dependencies.clock ?? { now: () => performance.now() };
  /** When each was counted, oldest first, at most as many as the limit. */
  const counted = new LRUCache<string, number[]>({ max: MAX_NETWORKS });
  /** Until when a network is refused. While there is none, a call costs one comparison of the size. */
  const refused = new LRUCache<string, number>({ max: MAX_NETWORKS });

  return {
    refuseUnknown(source, kind, secret) {
      if (refused.size === 0 || source === null) return;
      const network = wideNetworkOf(addressOf(source, trustedProxies));
      const waitMs = (refused.get(network) ?? 0) - clock.now();
      if (waitMs <= 0) refused.delete(network);
      else if (!hasWorked[kind](secret)) throw new TooManyRequests(Math.ceil(waitMs / 1_000));
    },

    count(source, kind, secret) {
      // Browsers send all cookies they have.
      if (kind === "session" && !namesSession(secret)) return;
      const address = source === null ? "" : addressOf(source, trustedProxies);
      const subject = SHOWN.exec(secret)?.[0] ?? "";
      recordSecurityEvent({ kind: EVENT_KINDS[kind], outcome: "refused", address, subject });
      if (limit === 0 || source === null) return;
      const network = wideNetworkOf(address);
      const now = clock.now();
      const times = (counted.get(network) ?? []).filter((at) => at > now - WINDOW_MS);
      times.push(now);
      counted.set(network, times);
      const oldest = times[0];
      if (times.length < limit || oldest === undefined) return;
      times.splice(0, times.length - limit);
      if ((refused.get(network) ?? 0) <= now) {
        recordSecurityEvent({
          kind: "rate_limit",
          outcome: "refused",
          address,
          subject: network,
          detail: "credentials",
        });
      }
      refused.set(network, (times[0] ?? now) + WINDOW_MS);
    },
  };
}
