import { BlockList, isIP } from "node:net";

// Networks that are not the public internet: this host, private use, shared, link-local, documentation, benchmarking,
// discard-only, multicast, reserved, and the IPv6 forms that carry an IPv4 address or a tunnel inside them.
const NOT_PUBLIC = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
];

const privateNetworks = new BlockList();
for (const network of NOT_PUBLIC) {
  const [address = "", bits] = network.split("/");
  privateNetworks.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether an IP address is not one of the public internet. A text that is no IP address is not. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  // An IPv4 address written as IPv6 is checked as what it is; BlockList does that by itself.
  return privateNetworks.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** What a URL's host is as far as its name tells: an address of either kind, or a name that only the resolver knows. */
export function kindOfHost(hostname: string): "private" | "public" | "name" {
  const host = hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost") || isPrivateAddress(host)) return "private";
  return isIP(host) === 0 ? "name" : "public";
}
