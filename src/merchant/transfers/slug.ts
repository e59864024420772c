// The short name of a transfer, for people.

const SLUG_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const SLUG_LENGTH = 12;

/** A short name of a transfer, from the random end of its id: 60 bits in unambiguous characters. */
export function slugOf(transferId: string): string {
  let bits = BigInt(`0x${transferId.replaceAll("-", "").slice(-15)}`);
  let slug = "";
  for (let i = 0; i < SLUG_LENGTH; i += 1) {
    slug += SLUG_DIGITS.charAt(Number(bits % 32n));
    bits /= 32n;
  }
  return `t-${slug}`;
}
