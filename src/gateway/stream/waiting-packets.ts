/** The part of a stream that arrived while it had to wait, in order: the interrupted work, packets, and the end of the call. */
export class WaitingPackets {
  #packets: Buffer[] | null = null;
  #goOn: () => void = () => undefined;
  #atEnd: (() => void) | null = null;

  /** Whether something waits. Later packets then have to wait as well. */
  get isWaiting(): boolean {
    return this.#packets !== null;
  }

  /** Begins to wait; `goOn` is called first afterwards. */
  begin(goOn: () => void): void {
    this.#packets ??= [];
    this.#goOn = goOn;
  }

  push(packet: Buffer): void {
    this.#packets?.push(packet);
  }

  /** The call has ended: `atEnd` is called after the packets. */
  end(atEnd: () => void): void {
    this.#atEnd ??= atEnd;
  }

  /** Goes on with the waiting packets, until one has to wait again. */
  resume(take: (packet: Buffer) => void): void {
    const packets = this.#packets ?? [];
    this.#packets = null;
    this.#goOn();
    // A packet that has to wait again keeps its place before later ones.
    for (const packet of packets) take(packet);
    if (this.isWaiting) return;
    const atEnd = this.#atEnd;
    this.#atEnd = null;
    atEnd?.();
  }
}
