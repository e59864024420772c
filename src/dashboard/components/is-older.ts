/** What is older than its answer by less than this is as good as new. */
const NEW_MS = 5_000;

/** Whether data of a moment was old when its answer arrived. */
export function isOlder(asOf: Date, readAtMs: number): boolean {
  return readAtMs - asOf.getTime() > NEW_MS;
}
