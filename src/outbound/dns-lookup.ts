// Resolves names that others chose. Node's usual way takes one of the few threads that files and hashes need as well, for as
// long as the name's servers like; this one asks by itself, with a bound. It reads no hosts file: such names are ours.

import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { isLoopbackHost } from "./public-address.ts";

const ASK_WITHIN_MS = 1_500;
const TRIES = 2;
const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Makes the look-up; `servers` are asked instead of the machine's own. It gives all addresses of a name, IPv4 first. */
export function createDnsLookup(servers?: readonly string[]): LookupFunction {
  const ask = callbackify(async (hostname: string) =>
    isLoopbackHost(hostname) ? LOOPBACK : askDns(hostname, servers),
  );
  return (hostname, _options, callback) =>
    ask(hostname, (error, addresses) => callback(error, error === null ? [...addresses] : []));
}

/** Every address of a name. Errors: the servers' error when there is none. */
async function askDns(hostname: string, servers: readonly string[] | undefined): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: ASK_WITHIN_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0 && four.status === "rejected") throw four.reason;
  return addresses;
}
