// The bounds of a method's request, read from the `request_bounds` option of its contract. RPC and REST enforce the same ones.

import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { request_bounds } from "#gen/saldo/options/v1/options_pb.ts";

/** The bounds of one request message. */
export type RequestBounds = {
  /** The most bytes of the encoded message, after decompression. */
  readonly maxBytes: number;
  /** Whether RPC callers may compress the message. */
  readonly compression: boolean;
};

/** Large enough for every message without content of a model and without a catalog. */
const DEFAULT_MAX_BYTES = 64 * 1024;
const DEFAULT_BOUNDS: RequestBounds = { maxBytes: DEFAULT_MAX_BYTES, compression: false };

const known = new Map<DescMethod, RequestBounds>();

/** The bounds of a method's request. */
export function requestBoundsOf(method: DescMethod): RequestBounds {
  const read = known.get(method);
  if (read !== undefined) return read;
  const bounds = readBounds(method);
  known.set(method, bounds);
  return bounds;
}

/** The most bytes a request of the method may have, on every protocol. */
export function requestLimitOf(method: DescMethod): number {
  return requestBoundsOf(method).maxBytes;
}

function readBounds(method: DescMethod): RequestBounds {
  if (!hasOption(method, request_bounds)) return DEFAULT_BOUNDS;
  const { maxBytes, compression } = getOption(method, request_bounds);
  return { maxBytes: maxBytes === 0 ? DEFAULT_MAX_BYTES : maxBytes, compression };
}
