// Keeps an upstream's address from reaching into our own network. The check is made on the addresses a name resolves to at
// the moment of connecting, so that a name which changes its mind after it was configured does not pass.

import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPrivateAddress } from "../../../catalog/private-address.ts";

/** The upstream's address is not a public one, and the operator has not said that it may be. */
export class PrivateAddressError extends Error {
  readonly code = "SALDO_PRIVATE_ADDRESS";
  constructor() {
    super("the upstream's address is not public; allow_private_address permits it");
  }
}

/** Resolves a name, and refuses it if any of its addresses is not public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = error === null ? addresses : [];
    if (first === undefined) callback(error ?? new Error("the name has no address"), [], 0);
    else if (addresses.some(({ address }) => isPrivateAddress(address))) callback(new PrivateAddressError(), [], 0);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
