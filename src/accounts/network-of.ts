// Network addresses as tries are counted by.

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/** An IPv4 address as it is; of an IPv6 address the network that one customer of a provider has, its first 64 bits. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const between = tail === undefined ? 0 : Math.max(0, IPV6_GROUPS - first.length - last.length);
  const groups = [...first, ...Array<string>(between).fill("0"), ...last];
  return `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}
