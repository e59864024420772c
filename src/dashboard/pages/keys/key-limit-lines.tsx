import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type ApiKey, BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { LIMIT_MESSAGES } from "./limit-messages.ts";

/** The limits that a key has, a line each: its budget and what is left, its end, and whether it may ask some models only. */
export function KeyLimitLines({ apiKey }: { readonly apiKey: ApiKey }) {
  const lines = useLimitLines(apiKey);
  return lines.map((line) => (
    <span key={line} className="block text-xs whitespace-nowrap text-muted">
      {line}
    </span>
  ));
}

function useLimitLines({ limits, budget, revokedAt }: ApiKey): readonly string[] {
  const messages = useMessages(LIMIT_MESSAGES);
  const formats = useFormats();
  if (limits === undefined || revokedAt !== undefined) return [];
  const lines: string[] = [];
  if (budget !== undefined) {
    const periods: Readonly<Record<number, string>> = {
      [BudgetPeriod.DAY]: messages.perDay,
      [BudgetPeriod.MONTH]: messages.perMonth,
      [BudgetPeriod.TOTAL]: ` ${messages.inTotal}`,
    };
    const period = periods[limits.budgetPeriod] ?? "";
    lines.push(`${formats.rupiah(limits.budgetIdr)}${period}`, `${messages.left} ${formats.rupiah(budget.leftIdr)}`);
  }
  if (limits.expiresAt !== undefined) {
    const end = timestampDate(limits.expiresAt).getTime();
    lines.push(end <= Date.now() ? messages.expired : `${messages.until} ${formats.date(new Date(end - 1))}`);
  }
  if (limits.tokenLimit > 0) lines.push(`${formats.count(limits.tokenLimit)} ${messages.perMinute}`);
  if (limits.allowedModels.length > 0) lines.push(messages.someModels);
  if (limits.allowedNetworks.length > 0) lines.push(messages.someNetworks);
  return lines;
}
