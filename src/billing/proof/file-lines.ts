// The lines of a file, exactly: only a line feed ends one, every byte must be UTF-8, and the last line must be ended.

const LINE_FEED = 10;
const MOST_BYTES = 1_000_000;

/** Yields lines without their line feed. Errors: a line that is too long, is no UTF-8, or has no end. */
export async function* fileLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, Buffer.from(chunk)]);
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      yield decode(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MOST_BYTES) throw new Error("A line is longer than a megabyte.");
  }
  if (rest.length > 0) throw new Error("The last line has no end.");
}

function decode(bytes: Buffer): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
