// The operators' settings for all accounts.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { byAmount } from "../../../i18n/decimal.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { amountOf, asTyped, RUPIAH } from "../../../i18n/read-amount.ts";
import { AmountField } from "../../../components/amount-field.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { Fact, Facts } from "../../../components/facts.tsx";
import { CommandDialog, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { SERVICE_MESSAGES } from "./service-messages.ts";

/** From zero to ten million rupiah, as the contract allows. */
const WELCOME = { ...RUPIAH, zero: true };
const MOST = "10000000";
const SELLER_COMMAND =
  'npm run saldo -- settings seller --name "PT Contoh" --address "Jl. Thamrin 9;Jakarta" --npwp 0012345678901000 --reason opening';

/** The settings and the command that changes them. */
export function SettingsCard() {
  const messages = useMessages(SERVICE_MESSAGES);
  const formats = useFormats();
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useQuery(SystemService.method.getSettings, {});
  const settings = data?.settings;
  return (
    <Card title={messages.settings}>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {settings === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {settings === undefined ? null : (
        <div className="flex flex-col items-start gap-4">
          <div className="w-full">
            <Facts>
              <Fact name={messages.welcome}>
                <strong className="font-semibold">{formats.exactRupiah(settings.welcomeCredit)}</strong>
              </Fact>
            </Facts>
          </div>
          <p className="text-muted">{messages.welcomeAbout}</p>
          <Button onClick={() => setAsked(true)}>{messages.changeWelcome}</Button>
          <MissingSeller />
          {isAsked ? <WelcomeDialog now={settings.welcomeCredit} onClose={() => setAsked(false)} /> : null}
        </div>
      )}
    </Card>
  );
}

/** That receipts are not issued, and the command that ends it: who sells is set on the command line. */
function MissingSeller() {
  const messages = useMessages(SERVICE_MESSAGES);
  const { data } = useQuery(SystemService.method.getOverview, {});
  if (data?.decisions?.sellerMissing !== true) return null;
  return (
    <div className="flex w-full flex-col gap-2 border-t border-line pt-4">
      <p>
        <Badge tone="warn">{messages.noSeller}</Badge>
      </p>
      <p className="text-muted">{messages.noSellerAbout}</p>
      <CodeBlock code={SELLER_COMMAND} what={messages.sellerCommand} />
    </div>
  );
}

function WelcomeDialog({ now, onClose }: { readonly now: string; readonly onClose: () => void }) {
  const messages = useMessages(SERVICE_MESSAGES);
  const formats = useFormats();
  const notifyOutcome = useNotifyOutcome();
  const update = useCommand(SystemService.method.updateSettings);
  const [typed, setTyped] = useState(asTyped(now));
  const amount = amountOf(typed, WELCOME) ?? "";
  const [reason, setReason] = useState("");
  const send = async () => {
    await update.mutateAsync({ settings: { welcomeCredit: amount }, reason });
    notifyOutcome({});
  };
  return (
    <CommandDialog
      onClose={onClose}
      title={messages.changeTitle}
      about={messages.welcomeAbout}
      confirm={messages.confirmWelcome}
      onCommand={send}
      review={() => (
        <Review>
          <Fact name={messages.before}>{formats.exactRupiah(now)}</Fact>
          <Fact name={messages.after}>
            <strong className="font-semibold">{formats.exactRupiah(amount)}</strong>
          </Fact>
        </Review>
      )}
    >
      <AmountField
        label={messages.welcomeField}
        hint={messages.welcomeMost(formats.rupiah(MOST))}
        rules={WELCOME}
        limit={(welcome) => (byAmount(welcome, MOST) < 0 ? messages.welcomeMost(formats.rupiah(MOST)) : null)}
        required
        value={typed}
        onChange={setTyped}
      />
      <ReasonField value={reason} onChange={setReason} />
    </CommandDialog>
  );
}
