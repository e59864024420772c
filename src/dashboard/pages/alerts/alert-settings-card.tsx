// Which alerts are sent, by mail and to the webhook, and from which share of a budget or of a day's spend on.

import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { AlertSettings } from "#gen/saldo/billing/v1/alert_pb.ts";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { Button } from "../../components/button.tsx";
import { useNotify } from "../../components/notices.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { amountOf, asTyped, RUPIAH } from "../../i18n/read-amount.ts";
import { useMay } from "../../layouts/role.ts";
import { NotSaved } from "../settings/not-saved.tsx";
import { ALERTS_MESSAGES } from "./alerts-messages.ts";

const TYPES = [
  "balance.low",
  "key.budget_reached",
  "member.budget_reached",
  "usage.daily",
  "top_up.succeeded",
] as const;
type AlertType = (typeof TYPES)[number];
const PERCENTS = [50, 80, 100] as const;
/** The maximum of the contract, in rupiah. */
const MOST = 1_000_000_000_000n;

/** The form. A role that may only read sees it disabled. */
export function AlertSettingsCard({ settings }: { readonly settings: AlertSettings }) {
  const messages = useMessages(ALERTS_MESSAGES);
  const formats = useFormats();
  const mayChange = useMay("change");
  const notify = useNotify();
  const queries = useQueryClient();
  const [dailySpend, setDailySpend] = useState(asTyped(settings.dailySpend));
  const [isTried, setTried] = useState(false);
  const [percents, setPercents] = useState<readonly number[]>(settings.percents);
  const [mailTypes, setMailTypes] = useState<readonly string[]>(settings.mailTypes);
  const [webhookTypes, setWebhookTypes] = useState<readonly string[]>(settings.webhookTypes);
  const { mutate, error, isPending } = useMutation(AlertService.method.updateAlertSettings, {
    onSuccess: () => {
      notify(messages.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AlertService.method.getAlertSettings, cardinality: "finite" }),
      });
    },
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const amount = dailySpend.trim() === "" ? "" : amountOf(dailySpend, RUPIAH);
    if (amount === null || isTooMuch(amount)) return;
    mutate({
      settings: {
        dailySpend: amount,
        percents: [...percents],
        mailTypes: [...mailTypes],
        webhookTypes: [...webhookTypes],
      },
    });
  };
  return (
    <form noValidate onSubmit={save} className="flex flex-col gap-4">
      <p className="text-muted">{messages.chooseAbout}</p>
      <fieldset disabled={!mayChange} className="flex min-w-0 flex-col gap-4">
        <legend className="sr-only">{messages.choose}</legend>
        <AmountField
          label={messages.dailySpend}
          hint={messages.dailySpendHint}
          rules={RUPIAH}
          limit={(amount) => (isTooMuch(amount) ? messages.tooMuch(formats.rupiah(String(MOST))) : null)}
          isTried={isTried}
          value={dailySpend}
          onChange={setDailySpend}
        />
        <PercentsField percents={percents} onChange={setPercents} />
        <TypesField
          mailTypes={mailTypes}
          webhookTypes={webhookTypes}
          onMailTypes={setMailTypes}
          onWebhookTypes={setWebhookTypes}
        />
        <p className="text-xs text-muted">{messages.readers}</p>
      </fieldset>
      <NotSaved error={error} />
      {mayChange ? (
        <Button type="submit" busy={isPending} className="self-start">
          {messages.save}
        </Button>
      ) : (
        <p className="text-xs text-muted">{messages.readOnly}</p>
      )}
    </form>
  );
}

const BOX = "size-4 shrink-0 accent-[var(--action)]";

function PercentsField({
  percents,
  onChange,
}: {
  readonly percents: readonly number[];
  readonly onChange: (percents: readonly number[]) => void;
}) {
  const messages = useMessages(ALERTS_MESSAGES);
  const hint = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5" aria-describedby={hint}>
      <legend className="mb-1.5 text-[0.8125rem] font-medium">{messages.percents}</legend>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        {PERCENTS.map((percent) => (
          <label key={percent} className="inline-flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              checked={percents.includes(percent)}
              onChange={({ target }) =>
                onChange(PERCENTS.filter((each) => isChosen(each, percent, target.checked, percents)))
              }
              className={BOX}
            />
            {percent} %
          </label>
        ))}
      </div>
      <p id={hint} className="text-xs text-muted">
        {messages.percentsHint}
      </p>
    </fieldset>
  );
}

function TypesField({
  mailTypes,
  webhookTypes,
  onMailTypes,
  onWebhookTypes,
}: {
  readonly mailTypes: readonly string[];
  readonly webhookTypes: readonly string[];
  readonly onMailTypes: (types: readonly AlertType[]) => void;
  readonly onWebhookTypes: (types: readonly AlertType[]) => void;
}) {
  const messages = useMessages(ALERTS_MESSAGES);
  const box = (
    type: AlertType,
    label: string,
    chosen: readonly string[],
    onChange: (types: readonly AlertType[]) => void,
  ) => (
    <input
      type="checkbox"
      aria-label={label}
      checked={chosen.includes(type)}
      onChange={({ target }) => onChange(TYPES.filter((each) => isChosen(each, type, target.checked, chosen)))}
      className={`${BOX} align-middle`}
    />
  );
  return (
    <table className="w-full text-left">
      <thead>
        <tr className="border-b border-line text-[0.8125rem] text-muted">
          <th scope="col" className="py-2 pr-3 font-medium">
            {messages.event}
          </th>
          <th scope="col" className="px-3 py-2 font-medium">
            {messages.byMail}
          </th>
          <th scope="col" className="py-2 pl-3 font-medium">
            {messages.byWebhook}
          </th>
        </tr>
      </thead>
      <tbody>
        {TYPES.map((type) => (
          <tr key={type} className="border-b border-line last:border-b-0">
            <th scope="row" className="py-2 pr-3 font-normal">
              <span className="block">{messages[type]}</span>
              <code className="block font-mono text-xs break-all text-muted">{type}</code>
            </th>
            <td className="px-3 py-2">
              {type === "balance.low" ? (
                <span className="text-xs text-muted">{messages.ownMail}</span>
              ) : (
                box(type, messages.mailOf(messages[type]), mailTypes, onMailTypes)
              )}
            </td>
            <td className="py-2 pl-3">{box(type, messages.webhookOf(messages[type]), webhookTypes, onWebhookTypes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isTooMuch(rupiah: string): boolean {
  return BigInt(rupiah.split(".")[0] ?? "") >= MOST;
}

/** Whether one of several is chosen, once another or it itself was checked or not. */
function isChosen<Item>(each: Item, changed: Item, isChecked: boolean, chosen: readonly unknown[]): boolean {
  return each === changed ? isChecked : chosen.includes(each);
}
