// What the translations of every subject share.

import { type Timestamp, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { OperatorContext } from "../audit-log/operator-actions.ts";
import type { CatalogPresets } from "../../catalog/apply-catalog.ts";
import type { TopUp } from "../../billing/top-ups/top-up.ts";
import type { Database } from "../../database/database.ts";
import { DecimalError } from "../../kernel/decimal.ts";
import { ValidationError } from "../../kernel/errors.ts";
import type { DailyCaps } from "../../merchant/payouts/daily-cap.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import type { SecondPersonRule } from "../second-person/second-person.ts";
import { formatMoney, idr, IDR, parseMoney } from "../../kernel/money.ts";

/** What the services are built from; each takes its part. */
export type Parts = CatalogPresets & {
  readonly database: Database;
  /** Whether a variable of the environment is set. Its value is never shown. */
  readonly isSet: (variable: string) => boolean;
  /** Asks the provider of a top-up now. Errors: NotFound, UpstreamBusy. */
  readonly verifyNow: (topUpId: string) => Promise<TopUp>;
  /** The chains that transfers are paid on in this process. */
  readonly payoutChains: readonly PayoutChain[];
  /** Whether balance is sold and receipts wait for a seller. */
  readonly isSellerMissing: () => Promise<boolean>;
  /** When another operator has to approve. Null: never. */
  readonly secondPerson: SecondPersonRule | null;
  /** What goes out on a day at most, by chain. Absent: no caps. */
  readonly dailyCaps?: Readonly<Record<string, DailyCaps>>;
  /** The operator of a call, and the database. */
  readonly operatorContext: (context: HandlerContext) => OperatorContext & { readonly database: Database };
};

/** Micro-rupiah as a decimal text. */
export function rupiah(units: bigint): string {
  return formatMoney(idr(units));
}

/** A decimal text, with a sign or without, as micro-rupiah. Errors: ValidationError. */
export function fromRupiah(text: string): bigint {
  try {
    const isBelow = text.startsWith("-");
    const { units } = parseMoney(isBelow ? text.slice(1) : text, IDR);
    return isBelow ? -units : units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    throw new ValidationError([{ field: "amount", rule: "decimal", message: error.message }], { cause: error });
  }
}

/** A member that is there where the moment is. */
export function moment<Name extends string>(name: Name, date: Date | null): { [N in Name]?: Timestamp } {
  return (date === null ? {} : { [name]: timestampFromDate(date) }) as { [N in Name]?: Timestamp };
}

/** The bounds of a filter in milliseconds, as far as they are set. */
export function timeRange(filter: { from?: Timestamp | undefined; until?: Timestamp | undefined } | undefined): {
  fromMs?: number;
  untilMs?: number;
} {
  return {
    ...(filter?.from === undefined ? {} : { fromMs: timestampMs(filter.from) }),
    ...(filter?.until === undefined ? {} : { untilMs: timestampMs(filter.until) }),
  };
}

/** A member that is there where the text is not empty. */
export function given<Name extends string>(name: Name, text: string | undefined): { [N in Name]?: string } {
  return (text === undefined || text === "" ? {} : { [name]: text }) as { [N in Name]?: string };
}

/** A text that may be left out, as the rules take it. */
export function orNull(text: string): string | null {
  return text === "" ? null : text;
}

/** Carries a command out whose name the contract calls an idempotency key, and the commands a reference. */
export async function keyed<Outcome>(outcome: Promise<Outcome>): Promise<Outcome> {
  try {
    return await outcome;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const inWordsOfContract = error.details.map((problem) =>
      problem.field === "reference" ? { ...problem, field: "idempotencyKey" } : problem,
    );
    throw new ValidationError(inWordsOfContract, { cause: error });
  }
}
