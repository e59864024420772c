import { useState } from "react";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { SelectField, TextArea, TextField } from "../../components/field.tsx";
import { BUDGET, type LimitFields, problemsOf } from "./key-limits.ts";
import { LIMIT_MESSAGES } from "./limit-messages.ts";

const PERIODS = [
  [BudgetPeriod.DAY, "day"],
  [BudgetPeriod.MONTH, "month"],
  [BudgetPeriod.TOTAL, "total"],
] as const;

/** What a key may do: folded away where it is open to everything. */
export function LimitFieldset({
  value,
  present,
  bound,
  onChange,
  isTried,
}: {
  readonly value: LimitFields;
  /** What the key has. Absent: it is being made. */
  readonly present?: LimitFields;
  /** The most requests in a minute that may be set; 0: any number. */
  readonly bound: number;
  readonly onChange: (fields: LimitFields) => void;
  /** Whether sending the form was tried: wrong values are then reported. */
  readonly isTried: boolean;
}) {
  const messages = useMessages(LIMIT_MESSAGES);
  const wrong = problemsOf(value, { today: useToday(), present, bound });
  const problem = (field: "lastDay" | "models" | "networks" | "rate" | "tokens") =>
    isTried && wrong.includes(field) ? { problem: messages[`${field}Problem`] } : {};
  const [isOpen, setOpen] = useState(
    [value.budget, value.lastDay, value.models, value.networks, value.rate, value.tokens].some((text) => text !== ""),
  );
  return (
    <details
      open={isOpen || (isTried && wrong.length > 0)}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="rounded-lg border border-line px-3 py-2"
    >
      <summary className="cursor-pointer text-sm font-medium">{messages.limits}</summary>
      <div className="mt-3 flex flex-col gap-3">
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <AmountField
            label={messages.budget}
            hint={messages.budgetHint}
            value={value.budget}
            rules={BUDGET}
            onChange={(budget) => onChange({ ...value, budget })}
            isTried={isTried}
          />
          <SelectField
            label={messages.period}
            value={String(value.period)}
            onChange={({ target }) => onChange({ ...value, period: Number(target.value) as BudgetPeriod })}
          >
            {PERIODS.map(([period, name]) => (
              <option key={name} value={period}>
                {messages[name]}
              </option>
            ))}
          </SelectField>
        </div>
        <TextField
          label={messages.lastDay}
          hint={messages.lastDayHint}
          type="date"
          value={value.lastDay}
          onChange={({ target }) => onChange({ ...value, lastDay: target.value })}
          {...problem("lastDay")}
        />
        <TextArea
          label={messages.models}
          hint={messages.modelsHint}
          rows={2}
          maxLength={20_000}
          spellCheck={false}
          value={value.models}
          onChange={({ target }) => onChange({ ...value, models: target.value })}
          {...problem("models")}
        />
        <TextField
          label={messages.rate}
          hint={bound === 0 ? messages.rateHintNone : `${messages.rateHint} ${bound}.`}
          inputMode="numeric"
          value={value.rate}
          onChange={({ target }) => onChange({ ...value, rate: target.value })}
          {...problem("rate")}
        />
        <TextField
          label={messages.tokens}
          hint={messages.tokensHint}
          inputMode="numeric"
          value={value.tokens}
          onChange={({ target }) => onChange({ ...value, tokens: target.value })}
          {...problem("tokens")}
        />
        <TextArea
          label={messages.networks}
          hint={messages.networksHint}
          rows={2}
          maxLength={10_000}
          spellCheck={false}
          value={value.networks}
          onChange={({ target }) => onChange({ ...value, networks: target.value })}
          {...problem("networks")}
        />
      </div>
    </details>
  );
}
