// Network addresses as tries are counted by, each in one form however it was written.

import { isIPv4, isIPv6 } from "node:net";
import { plainAddress } from "../kernel/ip-networks.ts";

/** All texts that are no address count as one network, so that a header cannot make up new ones. */
const UNKNOWN = "unknown";
const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/** An IPv4 address as it is; of an IPv6 address the network that one customer of a provider has, its first 64 bits. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return UNKNOWN;
  const network = groupsOf(plain)
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address.split("::").map(readGroups);
  return [...head, ...Array<number>(IPV6_GROUPS - head.length - tail.length).fill(0), ...tail];
}

function readGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

const IPV4_PARTS = 3;
const WIDE_GROUPS = 3;

/**
 * The network by which refused credentials are counted: /24 of IPv4, /48 of IPv6, as providers give them out. One customer of a
 * provider has many addresses of it.
 */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address);
  if (network === UNKNOWN) return UNKNOWN;
  if (network.endsWith("::/64")) return `${network.split(":").slice(0, WIDE_GROUPS).join(":")}::/48`;
  return `${network.split(".").slice(0, IPV4_PARTS).join(".")}.0/24`;
}
