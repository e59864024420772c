// Usage records as they are read: newest first, page by page. They are written by the ledger's settlement and never change.

import type { Pool } from "pg";
import { ValidationError } from "../kernel/errors.ts";
import { isUuid, uuidv7Floor } from "../kernel/ids.ts";
import type { UsageBasis } from "../ledger/ledger.ts";
import { selectUsage } from "./store.ts";

/** One request as it was billed. Money is micro-rupiah, prices micro-rupiah per 1M tokens. */
export type UsageRecord = {
  readonly requestId: string;
  readonly keyId: string;
  readonly model: string;
  readonly inputTokensUncached: number;
  readonly inputTokensCached: number;
  readonly outputTokens: number;
  readonly inputPrice: bigint;
  readonly outputPrice: bigint;
  readonly cacheHitPrice: bigint | null;
  readonly cost: bigint;
  readonly charge: bigint;
  readonly basis: UsageBasis;
  /** `YYYY-MM-DD` in Asia/Jakarta. */
  readonly billingDay: string;
  readonly upstream: string | null;
  readonly upstreamModel: string | null;
  readonly upstreamRequestId: string | null;
  /** What the upstream charged us, in micro-rupiah. Null: nobody knows. Not for customers, like the three above. */
  readonly upstreamCost: bigint | null;
  readonly streamed: boolean;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  readonly clamped: boolean;
};

/** Which records are meant; all that is set must fit. Times are milliseconds of Unix time. */
export type UsageFilter = {
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly model?: string;
  readonly keyId?: string;
};

export type UsagePage = { readonly records: readonly UsageRecord[]; readonly nextPageToken: string };

/** Lists an account's usage, newest first. Errors: ValidationError when the page token or the key's id is none. */
export async function listUsage(
  pool: Pool,
  query: { accountId: string; filter: UsageFilter; pageSize: number; pageToken: string },
): Promise<UsagePage> {
  const { accountId, filter, pageSize, pageToken } = query;
  if (pageToken !== "" && !isUuid(pageToken)) {
    throw new ValidationError([{ field: "page_token", rule: "page_token", message: "must come from the page before" }]);
  }
  if (filter.keyId !== undefined && !isUuid(filter.keyId)) {
    throw new ValidationError([{ field: "filter.key_id", rule: "string.uuid", message: "must be a UUID" }]);
  }
  // Request ids begin with their time, so a range of time is a range of the primary key.
  const records = await selectUsage(pool, {
    accountId,
    fromId: uuidv7Floor(filter.fromMs ?? 0),
    beforeId: earlier(
      pageToken === "" ? null : pageToken,
      filter.untilMs === undefined ? null : uuidv7Floor(filter.untilMs),
    ),
    model: filter.model ?? null,
    keyId: filter.keyId ?? null,
    limit: pageSize + 1,
  });
  const page = records.slice(0, pageSize);
  return { records: page, nextPageToken: records.length > pageSize ? (page.at(-1)?.requestId ?? "") : "" };
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
