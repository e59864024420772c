import type { Pool } from "pg";
import { selectTopUpsAtLarge } from "./store.ts";
import type { TopUp } from "./top-up.ts";

/** Which top-ups an operator wants to see; all that is set must fit. */
export type TopUpFilter = {
  readonly accountId: string | null;
  /** Those in review, with a problem, or that left something owed. */
  readonly needsAttention: boolean;
  readonly beforeId?: string;
  readonly limit: number;
};

/** Top-ups of all accounts, newest first, for operators. */
export function listTopUps(pool: Pool, { beforeId, ...filter }: TopUpFilter): Promise<TopUp[]> {
  return selectTopUpsAtLarge(pool, { ...filter, beforeId: beforeId ?? null });
}
