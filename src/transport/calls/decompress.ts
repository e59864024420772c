// Decompression of requests, within a ratio: a message that becomes a hundred times as large is no text but an attack, and its
// decompression ends there.

import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { PayloadTooLarge, UnsupportedMediaType, ValidationError } from "../../kernel/errors.ts";
import type { RequestBounds } from "./request-bounds.ts";

const MAX_RATIO = 100;
/** A short message may have any ratio: as much is read uncompressed from every caller of the method. */
const ALWAYS_ALLOWED_BYTES = 64 * 1024;

const DECOMPRESSORS = new Map([
  ["gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
]);

/**
 * The message inside compressed bytes. Errors: ConnectError (unimplemented) where the method takes no compressed message or
 * the encoding is unknown, PayloadTooLarge, ValidationError.
 */
export async function decompress(bytes: Uint8Array, encoding: string, bounds: RequestBounds): Promise<Uint8Array> {
  if (!bounds.compression) throw refused("Requests of this method must not be compressed.");
  const decompressor = DECOMPRESSORS.get(encoding);
  if (decompressor === undefined) throw refused(`unknown compression "${encoding}": supported encodings are gzip,br`);
  if (bytes.length === 0) return bytes;
  const maxOutputLength = Math.min(bounds.maxBytes, Math.max(ALWAYS_ALLOWED_BYTES, bytes.length * MAX_RATIO));
  try {
    return await decompressor(bytes, { maxOutputLength });
  } catch (error) {
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    if (isTooLarge && maxOutputLength === bounds.maxBytes) throw new PayloadTooLarge(maxOutputLength);
    const message = isTooLarge
      ? `must not decompress to more than ${MAX_RATIO} times its size`
      : "decompression failed";
    throw new ValidationError([{ field: "", rule: "protocol", message }]);
  }
}

/** The protocols have this code for a compression that a server does not support. */
function refused(message: string): ConnectError {
  return new ConnectError(message, Code.Unimplemented, undefined, undefined, new UnsupportedMediaType());
}
