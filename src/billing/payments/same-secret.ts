import { hash, timingSafeEqual } from "node:crypto";

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  // Digests have one length, so the length of the sent text does not matter.
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}
