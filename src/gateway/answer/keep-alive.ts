// Comments that keep the connection of a silent stream open: proxies and clients close one that carries nothing for a
// minute or so. Comments are no part of the answer, and clients skip them.

/** What goes out. */
const COMMENT = Buffer.from(": keep-alive\n\n");
/** The silence is looked at so often within its limit, so a comment is late by a part of it at most. */
const LOOKS = 5;

export type KeepAliveFacts = {
  /** The silence after which a comment goes out. 0: never. */
  readonly afterMs: number;
  /** Bytes of the answer that went out so far. */
  readonly relayedBytes: () => number;
  readonly write: (comment: Buffer) => void;
};

/** Writes a comment after each silence, until what it returns is called. */
export function keepAlive({ afterMs, relayedBytes, write }: KeepAliveFacts): () => void {
  if (afterMs === 0) return () => undefined;
  let silentLooks = 0;
  let relayed = 0;
  const timer = setInterval(look, afterMs / LOOKS);
  return () => clearInterval(timer);

  function look(): void {
    const now = relayedBytes();
    silentLooks = now === relayed ? silentLooks + 1 : 0;
    relayed = now;
    if (silentLooks < LOOKS) return;
    silentLooks = 0;
    write(COMMENT);
  }
}
