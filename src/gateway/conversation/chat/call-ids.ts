// Ids of calls. Each protocol and provider has its own rule for them; what fits all of them is kept as it is.

import { createHash } from "node:crypto";

const FITS_ALL = /^[\w-]{1,64}$/;
const DIGEST_LENGTH = 32;

/** The id in a form that every protocol takes: the same for the same id, and different for different ones. */
export function plainCallId(id: string): string {
  return FITS_ALL.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, DIGEST_LENGTH)}`;
}
