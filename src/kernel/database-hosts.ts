// The address of a database with several hosts, as libpq writes it: postgres://user@one:5432,two:5433/name, or
// ?host=/one,/two for sockets. The driver and `URL` know one host only.

const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?@]*)(.*)$/s;

/** The same address for each of its hosts, in their order. An address with one host is returned as it is. */
export function addressesOf(url: string): string[] {
  const [, start = "", hosts = "", rest = ""] = ADDRESS.exec(url) ?? [];
  if (hosts.includes(",")) return hosts.split(",").map((host) => `${start}${host}${rest}`);
  const [, before = "", named = "", after = ""] = /^(.*[?&]host=)([^&]*)(.*)$/s.exec(url) ?? [];
  const sockets = decodeURIComponent(named).split(",");
  if (sockets.length < 2) return [url];
  return sockets.map((host) => `${before}${encodeURIComponent(host)}${after}`);
}
