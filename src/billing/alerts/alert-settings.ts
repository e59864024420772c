// What an account is alerted of.

import type { Pool } from "pg";
import { type RecordChange, takeTurnAtSettings, UNRECORDED } from "../../database/record-change.ts";
import { withTransaction } from "../../database/transactions.ts";
import { changedFacts, type Facts } from "../../kernel/changed-facts.ts";
import { DecimalError } from "../../kernel/decimal.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, IDR, idr, parseMoney } from "../../kernel/money.ts";
import { type AlertSettings, selectAlertSettings, writeAlertSettings } from "./alert-store.ts";
import { PERCENTS } from "./alert-types.ts";

const MAX_DAILY_SPEND = 10n ** 12n * 10n ** 6n;

/** Settings as they are written: the daily spend is a decimal text, and empty where it is not watched. */
export type WrittenAlertSettings = Omit<AlertSettings, "dailySpend"> & { readonly dailySpend: string };

/** What an account is alerted of. */
export function readAlertSettings(pool: Pool, accountId: string): Promise<AlertSettings> {
  return selectAlertSettings(pool, accountId);
}

/** Sets what an account is alerted of; `record` writes a line of it in the same transaction. Errors: ValidationError. */
export async function setAlertSettings(
  pool: Pool,
  accountId: string,
  written: WrittenAlertSettings,
  record: RecordChange = UNRECORDED,
): Promise<AlertSettings> {
  const settings = {
    dailySpend: dailySpendOf(written.dailySpend),
    percents: percentsOf(written.percents),
    mailTypes: [...new Set(written.mailTypes)].toSorted(),
    webhookTypes: [...new Set(written.webhookTypes)].toSorted(),
  };
  await withTransaction({ pool }, async (client) => {
    await takeTurnAtSettings(client, accountId);
    const before = await selectAlertSettings(client, accountId);
    await writeAlertSettings(client, accountId, settings);
    await record(client, { subject: null, facts: changedFacts(factsOf(before), factsOf(settings)) });
  });
  return settings;
}

function factsOf({ dailySpend, percents, mailTypes, webhookTypes }: AlertSettings): Facts {
  return {
    dailySpend: dailySpend === null ? undefined : formatMoney(idr(dailySpend)),
    percents: percents.length === 0 ? undefined : percents.join(" "),
    mailTypes: mailTypes.length === 0 ? undefined : mailTypes.join(" "),
    webhookTypes: webhookTypes.length === 0 ? undefined : webhookTypes.join(" "),
  };
}

function percentsOf(percents: readonly number[]): number[] {
  if (percents.every((each) => PERCENTS.some((known) => known === each))) {
    return [...new Set(percents)].toSorted((a, b) => a - b);
  }
  const message = `must be any of ${PERCENTS.join(", ")}`;
  throw new ValidationError([{ field: "settings.percents", rule: "alerts.percents", message }]);
}

function dailySpendOf(text: string): bigint | null {
  if (text === "") return null;
  try {
    const { units } = parseMoney(text, IDR);
    if (units > 0n && units <= MAX_DAILY_SPEND) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  const message = "must be rupiah above 0, at most 1000000000000, with at most 6 decimals";
  throw new ValidationError([{ field: "settings.dailySpend", rule: "alerts.daily_spend", message }]);
}
