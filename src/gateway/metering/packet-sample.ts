// An even sample of the small packets of a stream, in memory of a fixed size. Every packet is kept until the memory is full;
// then about every second one is dropped, from there on only about every second one is kept, and so on. It is not exactly every
// second one: upstreams write in patterns, such as an empty chunk after each word, and the sample would miss all words or none.

import { placeOf, spreadOver } from "./spread.ts";

/** How much is kept of a stream. */
const SAMPLE_BYTES = 16 * 1024;
/** A larger packet is no small one: a sample is made of many. */
export const LARGEST_SMALL_PACKET = SAMPLE_BYTES / 8;
const MOST_SPARE = 1024;

/** `places`: of each packet the number between 0 and 1 that decides how long it is kept. */
type Memory = { readonly bytes: Buffer; readonly ends: number[]; readonly places: number[] };

/**
 * Memory that the next stream uses again. A stream lasts too long for its memory to be collected cheaply: with a thousand
 * streams, new memory for each takes more room than everything else they need.
 */
const spare: Memory[] = [];

export class PacketSample {
  #memory: Memory | null = null;
  #passed = 0;
  #passedBytes = 0;
  /** The share of the packets that is kept. */
  #share = 1;

  /** Takes note of a packet of at most LARGEST_SMALL_PACKET bytes. */
  add(packet: Buffer): void {
    const place = placeOf(this.#passed);
    this.#passed += 1;
    this.#passedBytes += packet.length;
    if (place < this.#share) this.#keep(packet, place);
  }

  #keep(packet: Buffer, place: number): void {
    this.#memory ??= spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(SAMPLE_BYTES), ends: [], places: [] };
    const { bytes, ends, places } = this.#memory;
    while (keptBytes(ends) + packet.length > SAMPLE_BYTES) {
      this.#share /= 2;
      letGoFrom(this.#share, this.#memory);
      // This packet may be among those to be dropped.
      if (place >= this.#share) return;
    }
    const at = keptBytes(ends);
    packet.copy(bytes, at);
    ends.push(at + packet.length);
    places.push(place);
  }

  /** Takes the sample and the bytes passed for each of its bytes; null: nothing was passed. The next sample begins. */
  take(): { readonly kept: Buffer; readonly scale: number } | null {
    const sample = this.look();
    if (sample === null) return null;
    const kept = Buffer.from(sample.kept);
    this.#begin();
    return { kept, scale: sample.scale };
  }

  /** The same, and the sample goes on. The bytes are the sample's own, valid until more is added. */
  look(): { readonly kept: Buffer; readonly scale: number } | null {
    if (this.#memory === null) return null;
    const { bytes, ends } = this.#memory;
    if (ends.length === 0) return null;
    const kept = bytes.subarray(0, keptBytes(ends));
    return { kept, scale: this.#passedBytes / kept.length };
  }

  /** At most so many packets of the sample, spread over it, and how much was passed for each byte of them. Takes nothing away. */
  peek(most: number): { readonly kept: Buffer; readonly scale: number } | null {
    if (this.#memory === null || this.#memory.ends.length === 0) return null;
    const { bytes, ends } = this.#memory;
    const indexes = spreadOver(ends.length, most);
    const kept = Buffer.concat(indexes.map((index) => bytes.subarray(ends[index - 1] ?? 0, ends[index])));
    return { kept, scale: this.#passedBytes / kept.length };
  }

  /** Gives the memory back, and forgets what is in it. */
  giveBack(): void {
    const memory = this.#memory;
    this.#begin();
    this.#memory = null;
    if (memory !== null && spare.length < MOST_SPARE) spare.push(memory);
  }

  #begin(): void {
    if (this.#memory !== null) {
      this.#memory.ends.length = 0;
      this.#memory.places.length = 0;
    }
    this.#passed = 0;
    this.#passedBytes = 0;
    this.#share = 1;
  }
}

function keptBytes(ends: readonly number[]): number {
  return ends.at(-1) ?? 0;
}

/** Drops the packets whose place is not below a share. */
function letGoFrom(share: number, { bytes, ends, places }: Memory): void {
  let [kept, start, to] = [0, 0, 0];
  for (const [packet, place] of places.entries()) {
    const end = ends[packet] ?? start;
    if (place < share) {
      bytes.copyWithin(to, start, end);
      to += end - start;
      ends[kept] = to;
      places[kept] = place;
      kept += 1;
    }
    start = end;
  }
  ends.length = kept;
  places.length = kept;
}
