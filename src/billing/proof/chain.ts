// The chain of an account's lines. Each line is the exact text that a statement has; its digest covers the digest before it. So a
// changed, missing, additional or moved line changes every digest behind it.

import { createHash } from "node:crypto";

export const DIGEST_BYTES = 32;

/** How many bytes of a line's own hash a seal keeps, to find the line that differs. */
export const MARK_BYTES = 4;

export function sha256(...parts: readonly (Buffer | string)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** The digest before an account's first line. */
export function firstDigest(accountId: string): Buffer {
  return sha256(`saldo account ${accountId}`);
}

/** The digest after a line. */
export function nextDigest(previous: Buffer, line: string): Buffer {
  return sha256(previous, line);
}

/** The mark of a line: the beginning of its own hash. */
export function markOf(line: string): Buffer {
  return sha256(line).subarray(0, MARK_BYTES);
}

/** The marks of many lines, in little memory. */
export class Marks {
  #bytes = Buffer.alloc(1_024);
  #length = 0;

  add(mark: Buffer): void {
    if (this.#length + MARK_BYTES > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    mark.copy(this.#bytes, this.#length);
    this.#length += MARK_BYTES;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** An account's chain at the end of a window. Lines and balance are counted from the account's beginning. */
export type ChainEnd = {
  readonly seal: number;
  readonly lines: bigint;
  /** Micro-rupiah. */
  readonly balance: bigint;
  readonly digest: Buffer;
};

/** The line of a seal in a statement. The chain goes on behind it as behind every line. */
export function sealText({ seal, lines, balance, digest }: ChainEnd): string {
  return JSON.stringify({ type: "seal", ...membersOf({ seal, lines, balance, digest }) });
}

/** The leaf of an account in the tree of a root. */
export function leafText(accountId: string, end: ChainEnd): string {
  return JSON.stringify({ account: accountId, ...membersOf(end) });
}

/** The digest before the first line behind a seal. */
export function digestBehind(end: ChainEnd): Buffer {
  return nextDigest(end.digest, sealText(end));
}

function membersOf({ seal, lines, balance, digest }: ChainEnd): Record<string, unknown> {
  return { seal, lines: String(lines), balance: String(balance), digest: digest.toString("hex") };
}
