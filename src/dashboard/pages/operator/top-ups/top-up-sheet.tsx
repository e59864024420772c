// One top-up with its provider's data, and asking the provider again.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { TopUpService } from "#gen/saldo/operator/v1/top_up_service_pb.ts";
import {
  type AccountTopUp,
  type GetTopUpResponse,
  type PaymentEvent,
  PaymentFinding,
} from "#gen/saldo/operator/v1/top_up_pb.ts";
import { isNotFound } from "../../../api/transport.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { TopUpBadge } from "../../billing/top-up-states.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { AccountWithId } from "../components/account-name.tsx";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { commandTexts, ReasonDialog, useCommand } from "../components/command.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { TOP_UPS_MESSAGES } from "./top-ups-messages.ts";

/** Opens at the right when the address names a top-up. */
export function TopUpSheet({
  topUpId,
  onClose,
}: {
  readonly topUpId: string | undefined;
  readonly onClose: () => void;
}) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Dialog side open={topUpId !== undefined} onClose={onClose} title={messages.topUp}>
        {topUpId === undefined ? null : <Sheet topUpId={topUpId} onVerify={() => setAsked(true)} />}
      </Dialog>
      {isAsked && topUpId !== undefined ? <VerifyDialog topUpId={topUpId} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

function Sheet({ topUpId, onVerify }: { readonly topUpId: string; readonly onVerify: () => void }) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const query = useQuery(TopUpService.method.getTopUp, { topUpId });
  const { data, error } = query;
  if (error !== null) return isNotFound(error) ? <Empty title={messages.missing} /> : <NotLoaded query={query} />;
  if (data?.topUp?.topUp === undefined) return <SkeletonLines lines={8} />;
  return (
    <div className="flex flex-col gap-5">
      <TopUpFacts of={data.topUp} />
      <Button variant="action" onClick={onVerify} className="self-start">
        {messages.verify}
      </Button>
      <Events events={data.events} />
    </div>
  );
}

function TopUpFacts({
  of: { topUp, accountId, providerReference, problem, changedAt },
}: {
  readonly of: AccountTopUp;
}) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  if (topUp === undefined) return null;
  return (
    <>
      {problem === "" ? null : <p className="rounded-lg bg-bad-soft p-3 break-words text-bad">{problem}</p>}
      <Facts>
        <Fact name={messages.id}>
          <Mono>{topUp.id}</Mono>
        </Fact>
        <Fact name={shared.account}>
          <AccountWithId id={accountId} />
        </Fact>
        <Fact name={messages.amount}>
          <strong className="font-semibold">{formats.exactRupiah(topUp.amount)}</strong>
        </Fact>
        {topUp.tax === "0" ? null : <Fact name={messages.tax}>{formats.exactRupiah(topUp.tax)}</Fact>}
        <Fact name={messages.state}>
          <TopUpBadge state={topUp.state} />
        </Fact>
        <Fact name={messages.provider}>{topUp.provider}</Fact>
        <Fact name={messages.providerReference}>
          {providerReference === "" ? "—" : <Mono>{providerReference}</Mono>}
        </Fact>
        <Fact name={messages.created}>{when(topUp.createdAt)}</Fact>
        <Fact name={messages.expires}>{when(topUp.expiresAt)}</Fact>
        <Fact name={messages.paid}>{when(topUp.paidAt)}</Fact>
        <Fact name={messages.changed}>{when(changedAt)}</Fact>
        {topUp.givenBack === "0" ? null : <Fact name={messages.givenBack}>{formats.exactRupiah(topUp.givenBack)}</Fact>}
        {topUp.owed === "0" ? null : <Fact name={messages.owed}>{formats.exactRupiah(topUp.owed)}</Fact>}
      </Facts>
    </>
  );
}

function Events({ events }: { readonly events: GetTopUpResponse["events"] }) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  return (
    <section aria-label={messages.events} className="flex flex-col gap-3">
      <h3 className="font-medium">{messages.events}</h3>
      {events.length === 0 ? <p className="text-muted">{messages.noEvents}</p> : null}
      {events.map((event) => (
        <OneEvent key={event.id} event={event} />
      ))}
    </section>
  );
}

function OneEvent({ event }: { readonly event: PaymentEvent }) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const when = useWhen();
  const findings: Readonly<Partial<Record<PaymentFinding, string>>> = {
    [PaymentFinding.AS_ORDERED]: messages.as_ordered,
    [PaymentFinding.UNKNOWN_ORDER]: messages.unknown_order,
    [PaymentFinding.OTHER_PROVIDER]: messages.other_provider,
    [PaymentFinding.OTHER_AMOUNT]: messages.other_amount,
  };
  return (
    <div className="rounded-lg border border-line p-3">
      <Facts>
        <Fact name={<Mono>{event.status}</Mono>}>
          <Badge tone={event.finding === PaymentFinding.AS_ORDERED ? "good" : "bad"}>
            {findings[event.finding] ?? UNKNOWN}
          </Badge>
        </Fact>
        <Fact name={messages.amount}>
          {/* As the provider sent it, which need not be a number. */}
          <Mono>{event.amount}</Mono>
        </Fact>
        <Fact name={when(event.receivedAt)}>
          <Mono>{event.eventKey}</Mono>
        </Fact>
      </Facts>
    </div>
  );
}

function VerifyDialog({ topUpId, onClose }: { readonly topUpId: string; readonly onClose: () => void }) {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const notify = useNotify();
  const verify = useCommand(TopUpService.method.verifyTopUp);
  const send = async (reason: string) => {
    await verify.mutateAsync({ topUpId, reason });
    notify(messages.verified);
  };
  return <ReasonDialog {...commandTexts(messages, "verify")} onClose={onClose} onCommand={send} />;
}
