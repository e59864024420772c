// Networks of IPv4 and IPv6 as people write them, and whether an address is in one.

import { BlockList, isIP, isIPv4 } from "node:net";

const BITS = { 4: 32, 6: 128 } as const;
const FAMILY = { 4: "ipv4", 6: "ipv6" } as const;

/** A network as it was written: an address, and how many of its first bits count. */
export type IpNetwork = { readonly address: string; readonly version: 4 | 6; readonly bits: number };

/**
 * Reads a network such as `203.0.113.0/24`, or a single address. Null: it is none. An IPv4 address that is written as an IPv6 one
 * is none either: clients of IPv4 are compared as such.
 */
export function parseIpNetwork(text: string): IpNetwork | null {
  const [, address = "", bitsText] = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return null;
  if (version === 6 && mappedIpv4(address) !== null) return null;
  const bits = bitsText === undefined ? BITS[version] : Number(bitsText);
  return bits > BITS[version] ? null : { address, version, bits };
}

/** The test whether an address is in one of these networks. A text that is no network has no address in it. */
export function networkTest(texts: readonly string[]): (address: string) => boolean {
  // A list of both would find addresses of IPv4 in networks of IPv6 that have their other notation.
  const networks = { 4: new BlockList(), 6: new BlockList() };
  for (const text of texts) {
    const network = parseIpNetwork(text);
    if (network === null) continue;
    networks[network.version].addSubnet(network.address, network.bits, FAMILY[network.version]);
  }
  return (written) => {
    const address = plainAddress(written);
    const version = isIP(address);
    return (version === 4 || version === 6) && networks[version].check(address, FAMILY[version]);
  };
}

/** An address without port, brackets and zone, and an IPv4 address as such where it is written as an IPv6 one. */
export function plainAddress(written: string): string {
  const address = withoutPort(written).replace(/%.*$/, "");
  return mappedIpv4(address) ?? address;
}

/** Some proxies hand the port on, too: `203.0.113.7:50123`, `[2001:db8::1]:50123`. */
function withoutPort(address: string): string {
  const [, bracketed, ipv4] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(address) ?? [];
  return bracketed ?? ipv4 ?? address;
}

/** The form in which all texts of an IPv6 address are equal, without its port. */
function normalIpv6(address: string): string | null {
  const url = URL.parse(`http://[${address}]`);
  return url === null ? null : url.hostname.slice(1, -1);
}

const HEX = 16;
const BYTE = 256;

/** `::ffff:203.0.113.7`, in any notation, as IPv4. Null: it is no such address. */
function mappedIpv4(address: string): string | null {
  if (!address.includes(":")) return null;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normalIpv6(address) ?? "") ?? [];
  if (high === undefined || low === undefined) return null;
  const pairs = [high, low].map((group) => Number.parseInt(group, HEX));
  const ipv4 = pairs.flatMap((group) => [Math.floor(group / BYTE), group % BYTE]).join(".");
  return isIPv4(ipv4) ? ipv4 : null;
}
