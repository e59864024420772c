// One top-up with what its provider told, and asking the provider again.

import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { AccountTopUp, GetTopUpResponse, PaymentEvent } from "#gen/saldo/operator/v1/top_up_pb.ts";
import { isNotFound } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { TopUpBadge } from "../../billing/top-up-states.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { orderTexts, ReasonDialog, useOrder } from "../components/order.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { TOP_UPS_WORDS } from "./top-ups-words.ts";

/** Opens at the right when the address names a top-up. */
export function TopUpSheet({
  topUpId,
  onClose,
}: {
  readonly topUpId: string | undefined;
  readonly onClose: () => void;
}) {
  const words = useWords(TOP_UPS_WORDS);
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Dialog side open={topUpId !== undefined} onClose={onClose} title={words.topUp}>
        {topUpId === undefined ? null : <Sheet topUpId={topUpId} onVerify={() => setAsked(true)} />}
      </Dialog>
      {isAsked && topUpId !== undefined ? <VerifyDialog topUpId={topUpId} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

function Sheet({ topUpId, onVerify }: { readonly topUpId: string; readonly onVerify: () => void }) {
  const words = useWords(TOP_UPS_WORDS);
  const query = useQuery(OperatorService.method.getTopUp, { topUpId });
  const { data, error } = query;
  if (error !== null) return isNotFound(error) ? <Empty title={words.missing} /> : <NotLoaded query={query} />;
  if (data?.topUp?.topUp === undefined) return <SkeletonLines lines={8} />;
  return (
    <div className="flex flex-col gap-5">
      <TopUpFacts of={data.topUp} />
      <Button look="action" onClick={onVerify} className="self-start">
        {words.verify}
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
  const words = useWords(TOP_UPS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const when = useWhen();
  if (topUp === undefined) return null;
  return (
    <>
      {problem === "" ? null : <p className="rounded-lg bg-bad-soft p-3 break-words text-bad">{problem}</p>}
      <Facts>
        <Fact name={words.id}>
          <Mono>{topUp.id}</Mono>
        </Fact>
        <Fact name={shared.account}>
          <Link to="/operator/accounts/$accountId" params={{ accountId }} className="underline">
            <Mono>{accountId}</Mono>
          </Link>
        </Fact>
        <Fact name={words.amount}>
          <strong className="font-semibold">{formats.exactRupiah(topUp.amount)}</strong>
        </Fact>
        <Fact name={words.state}>
          <TopUpBadge state={topUp.state} />
        </Fact>
        <Fact name={words.provider}>{topUp.provider}</Fact>
        <Fact name={words.providerReference}>{providerReference === "" ? "—" : <Mono>{providerReference}</Mono>}</Fact>
        <Fact name={words.created}>{when(topUp.createdAt)}</Fact>
        <Fact name={words.expires}>{when(topUp.expiresAt)}</Fact>
        <Fact name={words.paid}>{when(topUp.paidAt)}</Fact>
        <Fact name={words.changed}>{when(changedAt)}</Fact>
        {topUp.givenBack === "0" ? null : <Fact name={words.givenBack}>{formats.exactRupiah(topUp.givenBack)}</Fact>}
        {topUp.owed === "0" ? null : <Fact name={words.owed}>{formats.exactRupiah(topUp.owed)}</Fact>}
      </Facts>
    </>
  );
}

function Events({ events }: { readonly events: GetTopUpResponse["events"] }) {
  const words = useWords(TOP_UPS_WORDS);
  return (
    <section aria-label={words.events} className="flex flex-col gap-3">
      <h3 className="font-medium">{words.events}</h3>
      {events.length === 0 ? <p className="text-muted">{words.noEvents}</p> : null}
      {events.map((event) => (
        <OneEvent key={event.id} event={event} />
      ))}
    </section>
  );
}

function OneEvent({ event }: { readonly event: PaymentEvent }) {
  const words = useWords(TOP_UPS_WORDS);
  const when = useWhen();
  const findings: Readonly<Record<string, string>> = words;
  return (
    <div className="rounded-lg border border-line p-3">
      <Facts>
        <Fact name={<Mono>{event.status}</Mono>}>
          <Badge tone={event.finding === "as_ordered" ? "good" : "bad"}>
            {findings[event.finding] ?? event.finding}
          </Badge>
        </Fact>
        <Fact name={words.amount}>
          {/* As the provider told it, which need not be a number. */}
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
  const words = useWords(TOP_UPS_WORDS);
  const notify = useNotify();
  const verify = useOrder(OperatorService.method.verifyTopUp);
  const send = async (reason: string) => {
    await verify.mutateAsync({ topUpId, reason });
    notify(words.verified);
  };
  return <ReasonDialog {...orderTexts(words, "verify")} onClose={onClose} onOrder={send} />;
}
