/** What has come of a stream while it had to wait, in order: what was begun, packets, and how the call ended. */
export class WaitingPackets {
  #packets: Buffer[] | null = null;
  #goOn: () => void = () => undefined;
  #atEnd: (() => void) | null = null;

  /** Whether something waits. What comes meanwhile has to wait as well. */
  get isWaiting(): boolean {
    return this.#packets !== null;
  }

  /** Begins to wait; `goOn` is what is done first afterwards. */
  begin(goOn: () => void): void {
    this.#packets ??= [];
    this.#goOn = goOn;
  }

  push(packet: Buffer): void {
    this.#packets?.push(packet);
  }

  /** The call has ended, of which this is to be made in its turn. */
  end(atEnd: () => void): void {
    this.#atEnd ??= atEnd;
  }

  /** Goes on with all that waits, until something has to wait again. */
  resume(take: (packet: Buffer) => void): void {
    const packets = this.#packets ?? [];
    this.#packets = null;
    this.#goOn();
    // What has to wait again keeps its place before what came later.
    for (const packet of packets) take(packet);
    if (this.isWaiting) return;
    const atEnd = this.#atEnd;
    this.#atEnd = null;
    atEnd?.();
  }
}
