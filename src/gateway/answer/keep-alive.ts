// Notices the silence of a stream.

/** The silence is looked at so often within its limit, so it is noticed late by a part of it at most. */
const LOOKS = 5;

export type KeepAliveFacts = {
  /** The silence that is noticed. 0: none is. */
  readonly afterMs: number;
  /** Bytes of the answer that went out so far. */
  readonly relayedBytes: () => number;
  readonly whenSilent: () => void;
};

/** Calls back after each silence, until the returned function is called. */
export function keepAlive({ afterMs, relayedBytes, whenSilent }: KeepAliveFacts): () => void {
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
    whenSilent();
  }
}
