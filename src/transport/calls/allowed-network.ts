// Whether a key may be used from the network of its caller. It is decided from what the process remembers of the key, which is at most
// five seconds old.

import { networkTest } from "../../kernel/ip-networks.ts";
import { NetworkNotAllowed } from "../../kernel/key-limit-errors.ts";
import type { VerifiedKey } from "../../keys/verified-key.ts";
import { addressOf, type CallSource } from "./client-address.ts";

/** The tests of the lists in memory: a list lives as long as its key is remembered. */
const tests = new WeakMap<readonly string[], (address: string) => boolean>();

/** A caller without a known address is in no network. Errors: NetworkNotAllowed. */
export function requireAllowedNetwork(
  { allowedNetworks }: Pick<VerifiedKey, "allowedNetworks">,
  source: CallSource | null,
  trustedProxies = 0,
): void {
  if (allowedNetworks === undefined) return;
  const isAllowed = tests.get(allowedNetworks) ?? networkTest(allowedNetworks);
  tests.set(allowedNetworks, isAllowed);
  if (source === null || !isAllowed(addressOf(source, trustedProxies))) throw new NetworkNotAllowed();
}
