// Which hosts and addresses are this machine alone.

/** Whether a host of a URL or a setting leads to this machine alone. An IPv6 address may be in brackets. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}

/** Whether a connection from this address comes from this machine. */
export function isLoopbackAddress(address: string): boolean {
  return /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address) || address === "::1";
}
