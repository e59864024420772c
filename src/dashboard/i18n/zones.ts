// Time zones as pages name them.

/** The zones of Indonesia, with their short names. */
export const INDONESIAN_ZONES: Readonly<Record<string, string>> = {
  "Asia/Jakarta": "WIB",
  "Asia/Makassar": "WITA",
  "Asia/Jayapura": "WIT",
};

/** The short name of a zone where it has one. */
export function zoneName(zone: string): string {
  return INDONESIAN_ZONES[zone] ?? zone;
}
