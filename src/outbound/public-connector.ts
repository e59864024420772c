// How connections to addresses that others chose are made: to the public internet only. A name is resolved once, each of
// its addresses is checked, and the connection is made to what was checked: a name that changes its mind after it was
// configured, or between two look-ups, leads nowhere.

import { lookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { isLoopbackAddress, isPrivateAddress, plainHost } from "./public-address.ts";

/** The address is not one of the public internet. */
export class PrivateAddressError extends Error {
  readonly code = "SALDO_PRIVATE_ADDRESS";
  constructor() {
    super("the address is not one of the public internet");
  }
}

export type OutsideRules = {
  /** How long a connection may take, TLS included. */
  readonly timeoutMs: number;
  /** Whether this machine itself may be reached, for trials. Other private addresses never are. */
  readonly allowLoopback?: boolean;
  /** Resolves names; a test gives its own. */
  readonly resolve?: LookupFunction;
};

/**
 * Makes undici's `connect` for addresses that others chose. The caller follows no redirect, or holds each against the
 * same rules. Errors, to the request: PrivateAddressError.
 */
export function publicConnector(rules: OutsideRules): buildConnector.connector {
  const isRefused = (address: string): boolean =>
    isPrivateAddress(address) && !(rules.allowLoopback === true && isLoopbackAddress(address));
  const connect = buildConnector({
    timeout: rules.timeoutMs,
    allowH2: false,
    lookup: checkedLookup(rules.resolve ?? lookup, isRefused),
  });
  return (options, callback) => {
    // An address is not looked up, so it is checked here.
    const host = plainHost(options.hostname);
    if (isIP(host) !== 0 && isRefused(host)) callback(new PrivateAddressError(), null);
    else connect(options, callback);
  };
}

/** Resolves a name, and refuses it if any of its addresses is refused. */
function checkedLookup(resolve: LookupFunction, isRefused: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses: readonly LookupAddress[] = error === null && Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (first === undefined) callback(error ?? new Error("the name has no address"), [], 0);
      else if (addresses.some(({ address }) => isRefused(address))) callback(new PrivateAddressError(), [], 0);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
