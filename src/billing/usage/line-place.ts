// The place of a line in an account's ledger: its time in microseconds, credits before debits of the same time, then its id.

import { wrongPageToken } from "../../kernel/paging.ts";

export type LinePlace = { readonly micros: bigint; readonly isDebit: boolean; readonly id: string };

export const BEFORE_ALL_LINES: LinePlace = {
  micros: 0n,
  isDebit: false,
  id: "00000000-0000-0000-0000-000000000000",
};

const TOKEN = /^(?<micros>\d{1,16})\.(?<side>[cd])\.(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The page token that names a place. */
export function tokenOf({ micros, isDebit, id }: LinePlace): string {
  return `${micros}.${isDebit ? "d" : "c"}.${id}`;
}

/** The place that a page token names. Errors: ValidationError. */
export function readLinePlace(pageToken: string): LinePlace {
  const { micros, side, id } = TOKEN.exec(pageToken)?.groups ?? {};
  if (micros === undefined || id === undefined) throw wrongPageToken();
  return { micros: BigInt(micros), isDebit: side === "d", id };
}
