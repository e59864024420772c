// An even sample of the small packets of a stream, in memory of a fixed size. Every packet is kept until the memory is full;
// then every second one is let go, and from there on only every second one is kept, and so on.

/** How much is kept of a stream. */
const SAMPLE_BYTES = 16 * 1024;
/** A larger packet is no small one: a sample is made of many. */
export const LARGEST_SMALL_PACKET = SAMPLE_BYTES / 8;
const MOST_SPARE = 1024;

type Memory = { readonly bytes: Buffer; readonly ends: number[] };

/**
 * Memory that the next stream uses again. A stream lasts too long for what it holds to be collected cheaply: with a thousand of
 * them, memory made anew for each takes more room than all else they need.
 */
const spare: Memory[] = [];

export class PacketSample {
  #memory: Memory | null = null;
  #passed = 0;
  #passedBytes = 0;
  #stride = 1;

  /** Takes note of a packet of at most LARGEST_SMALL_PACKET bytes. */
  add(packet: Buffer): void {
    const isMeant = this.#passed % this.#stride === 0;
    this.#passed += 1;
    this.#passedBytes += packet.length;
    if (isMeant) this.#keep(packet);
  }

  #keep(packet: Buffer): void {
    this.#memory ??= spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(SAMPLE_BYTES), ends: [] };
    const { bytes, ends } = this.#memory;
    while (keptBytes(ends) + packet.length > SAMPLE_BYTES) {
      letEverySecondGo(this.#memory);
      this.#stride *= 2;
      // This one may be among those that are no longer meant.
      if ((this.#passed - 1) % this.#stride !== 0) return;
    }
    const at = keptBytes(ends);
    packet.copy(bytes, at);
    ends.push(at + packet.length);
  }

  /** The sample and how much was passed for each byte of it; null: nothing was. Begins anew. */
  take(): { readonly kept: Buffer; readonly scale: number } | null {
    if (this.#memory === null) return null;
    const { bytes, ends } = this.#memory;
    if (ends.length === 0) return null;
    const kept = Buffer.from(bytes.subarray(0, keptBytes(ends)));
    const scale = this.#passedBytes / kept.length;
    this.#begin();
    return { kept, scale };
  }

  /** Gives the memory back, and forgets what is in it. */
  giveBack(): void {
    const memory = this.#memory;
    this.#begin();
    this.#memory = null;
    if (memory !== null && spare.length < MOST_SPARE) spare.push(memory);
  }

  #begin(): void {
    if (this.#memory !== null) this.#memory.ends.length = 0;
    this.#passed = 0;
    this.#passedBytes = 0;
    this.#stride = 1;
  }
}

function keptBytes(ends: readonly number[]): number {
  return ends.at(-1) ?? 0;
}

/** Keeps the first, the third and so on. */
function letEverySecondGo({ bytes, ends }: Memory): void {
  let to = 0;
  for (let packet = 0; packet < ends.length; packet += 2) {
    const start = packet === 0 ? 0 : (ends[packet - 1] ?? 0);
    const end = ends[packet] ?? start;
    bytes.copyWithin(to, start, end);
    to += end - start;
    ends[packet / 2] = to;
  }
  ends.length = Math.ceil(ends.length / 2);
}
