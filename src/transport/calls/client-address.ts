// The address of the client of a call.

/** The part of a request that has its address. */
export type CallSource = {
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
};

const FORWARDED = "x-forwarded-for";

/** The address of a caller: behind our proxies, the one that the outermost of them has seen. Empty: the connection is gone. */
export function addressOf({ rawHeaders, socket }: CallSource, trustedProxies: number): string {
  const seen = remoteAddressOf(socket);
  if (trustedProxies === 0) return seen;
  const forwarded: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === FORWARDED) forwarded.push(...(rawHeaders[i + 1] ?? "").split(","));
  }
  return forwarded.at(-trustedProxies)?.trim() || seen;
}

/** The socket of an HTTP/2 request throws when it is read after its end. */
function remoteAddressOf(socket: CallSource["socket"]): string {
  try {
    return socket.remoteAddress ?? "";
  } catch {
    return "";
  }
}
