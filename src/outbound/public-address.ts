// Which addresses are of the public internet. Every URL that a client or an operator gives us is held against this, so that
// no caller reaches our own network, or the machine's metadata, through us.

import { BlockList, isIP } from "node:net";

// Networks that are not the public internet: this host, private use, shared, link-local (where clouds serve metadata),
// documentation, benchmarking, relays, multicast, reserved.
const privateNetworks4 = blockListOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);
// Of IPv6 only 2000::/3 is given out. Around it lie local, private and multicast networks and NAT64; inside it tunnels
// that carry an IPv4 address, and documentation.
const privateNetworks6 = blockListOf([
  "::/3",
  "4000::/2",
  "8000::/1",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
/** An IPv4 address written as IPv6: it leads where the IPv4 address does. */
const mapped = blockListOf(["::ffff:0:0/96"]);
const loopback = blockListOf(["127.0.0.0/8", "::1/128"]);

/** Whether an IP address is not one of the public internet. A text that is no IP address is not. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (version === 4) return privateNetworks4.check(address, "ipv4");
  // BlockList holds a mapped address against IPv4 networks by itself.
  return (mapped.check(address, "ipv6") ? privateNetworks4 : privateNetworks6).check(address, "ipv6");
}

/** Whether an IP address is of this machine only. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** A URL's host as it is looked up: without the brackets of IPv6, a dot at the end, capitals. */
export function plainHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

/** Whether a host is this machine by its name or address. */
export function isLoopbackHost(hostname: string): boolean {
  const host = plainHost(hostname);
  return host === "localhost" || host.endsWith(".localhost") || isLoopbackAddress(host);
}

/** What a URL's host is by its name alone: an address of either kind, or a name that only the resolver knows. */
export function kindOfHost(hostname: string): "private" | "public" | "name" {
  const host = plainHost(hostname);
  if (isLoopbackHost(host) || isPrivateAddress(host)) return "private";
  return isIP(host) === 0 ? "name" : "public";
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}
