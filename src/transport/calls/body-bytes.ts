// The bytes of a request, collected within a bound. The memory grows with the received bytes and not with the stated length,
// and many small pieces cost no more than few large ones.

import { PayloadTooLarge } from "../../kernel/errors.ts";

const EMPTY = new Uint8Array(0);
const FIRST_CAPACITY = 64 * 1024;

/** Collects the pieces of one body. */
export class BodyBytes {
  readonly #maxMessage: number;
  readonly #maxBytes: number;
  #buffer: Uint8Array = EMPTY;
  #length = 0;

  /** For a message of at most so many bytes, after a frame of its protocol. */
  constructor(maxMessage: number, frame: number) {
    this.#maxMessage = maxMessage;
    this.#maxBytes = maxMessage + frame;
  }

  /** The bytes received so far. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Adds the next piece. Errors: PayloadTooLarge when the body becomes larger than its bound. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) throw new PayloadTooLarge(this.#maxMessage);
    if (this.#length === 0) {
      // Most bodies arrive in one piece, which is then not copied.
      this.#buffer = piece;
    } else {
      if (length > this.#buffer.length) this.#grow(length);
      this.#buffer.set(piece, this.#length);
    }
    this.#length = length;
  }

  #grow(length: number): void {
    const capacity = Math.min(this.#maxBytes, Math.max(FIRST_CAPACITY, 2 * length));
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(this.bytes);
    this.#buffer = grown;
  }
}
