// Positions in PostgreSQL's log (LSN), and the names of its segments.

/** The size of a segment, as initdb makes clusters of ours. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENT = /^[0-9A-F]{24}$/;

/** A position as PostgreSQL writes it, such as `0/3000028`. */
export function parseLsn(text: string): bigint {
  const [high = "", low = ""] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** A position in PostgreSQL's form. */
export function formatLsn(lsn: bigint): string {
  return `${hex(lsn >> 32n)}/${hex(lsn & 0xffff_ffffn)}`;
}

/** The beginning of the segment that has a position. */
export function segmentStart(lsn: bigint): bigint {
  return lsn - (lsn % BigInt(SEGMENT_BYTES));
}

/** The name of the segment that has a position. */
export function segmentName(timeline: number, lsn: bigint): string {
  const parts = [BigInt(timeline), lsn >> 32n, (lsn & 0xffff_ffffn) / BigInt(SEGMENT_BYTES)];
  return parts.map((part) => hex(part).padStart(8, "0")).join("");
}

/** The position at which a segment begins. */
export function startOfSegment(name: string): bigint {
  return (BigInt(`0x${name.slice(8, 16)}`) << 32n) + BigInt(`0x${name.slice(16)}`) * BigInt(SEGMENT_BYTES);
}

/** Whether a name is that of a segment, and not that of a history or a label. */
export function isSegment(name: string): boolean {
  return SEGMENT.test(name);
}

function hex(value: bigint): string {
  return value.toString(16).toUpperCase();
}
