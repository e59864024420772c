// Keeps an upstream's address from reaching into our own network. The check is made on the addresses a name resolves to at
// the moment of connecting, so that a name which changes its mind after it was configured does not pass.

import { lookup, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Networks that are not the public internet: private, shared, loopback, link-local, documentation, multicast, reserved. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b::", 32],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");
}

/** The upstream's address is not a public one, and the operator has not said that it may be. */
export class PrivateAddressError extends Error {
  readonly code = "SALDO_PRIVATE_ADDRESS";
  constructor() {
    super("the upstream's address is not public; allow_private_address permits it");
  }
}

/** Whether an IP address lies outside the public internet. An IPv4 address inside an IPv6 one is judged as itself. */
export function isPrivateAddress(address: string): boolean {
  return NOT_PUBLIC.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether a host as it stands in a URL is an IP address that is not public. A name is judged when it is resolved. */
export function isPrivateHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  return isIP(address) !== 0 && isPrivateAddress(address);
}

/** Resolves a name, and refuses it if any of its addresses is not public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) {
      callback(error ?? new Error("the name has no address"), [], 0);
    } else if (addresses.some(({ address }) => isPrivateAddress(address))) {
      callback(new PrivateAddressError(), [], 0);
    } else if (options.all === true) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
};
