import { JsonScanError, type ObjectScan, scanObject } from "../request/json-scan.ts";

/** Where the members of a JSON text lie. Null: it is no object, or nested too deep. */
export function scanOf(json: Buffer): ObjectScan | null {
  try {
    return scanObject(json);
  } catch (error) {
    if (error instanceof JsonScanError) return null;
    throw error;
  }
}
