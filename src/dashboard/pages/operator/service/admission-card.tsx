// The switch that stops new requests for everybody.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Admission } from "#gen/saldo/operator/v1/operation_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts } from "../../../components/facts.tsx";
import { OrderDialog, orderTexts, ReasonField, useNotifyOutcome, useOrder } from "../components/order.tsx";
import { SERVICE_WORDS } from "./service-words.ts";

const ASK_AGAIN_MS = 15_000;

/** Whether requests are admitted, and the order that turns it. */
export function AdmissionCard() {
  const words = useWords(SERVICE_WORDS);
  const { data, error, refetch } = useQuery(OperatorService.method.getAdmission, {}, { refetchInterval: ASK_AGAIN_MS });
  const admission = data?.admission;
  return (
    <Card
      title={words.admission}
      aside={
        admission === undefined ? null : admission.stopped ? (
          <Badge tone="bad">{words.stopped}</Badge>
        ) : (
          <Badge tone="good">{words.admitted}</Badge>
        )
      }
    >
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {admission === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {admission === undefined ? null : <Switch admission={admission} />}
    </Card>
  );
}

function Switch({ admission }: { readonly admission: Admission }) {
  const words = useWords(SERVICE_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const when = useWhen();
  const [isAsked, setAsked] = useState(false);
  return (
    <div className="flex flex-col items-start gap-4">
      <p className="text-muted">{admission.stopped ? words.stoppedAbout : words.admittedAbout}</p>
      {admission.stopped ? (
        <div className="w-full">
          <Facts>
            <Fact name={words.since}>{when(admission.since)}</Fact>
            <Fact name={shared.reason}>{admission.reason}</Fact>
          </Facts>
        </div>
      ) : null}
      <Button look={admission.stopped ? "action" : "danger"} onClick={() => setAsked(true)}>
        {admission.stopped ? words.start : words.stop}
      </Button>
      {isAsked ? <SwitchDialog isStopped={admission.stopped} onClose={() => setAsked(false)} /> : null}
    </div>
  );
}

function SwitchDialog({ isStopped, onClose }: { readonly isStopped: boolean; readonly onClose: () => void }) {
  const words = useWords(SERVICE_WORDS);
  const notifyOutcome = useNotifyOutcome();
  const stop = useOrder(OperatorService.method.stopAdmission);
  const start = useOrder(OperatorService.method.startAdmission);
  // The dialog stays what it was opened as, while the switch beneath is asked for again.
  const [isStarting] = useState(isStopped);
  const [reason, setReason] = useState("");
  const send = async () => {
    if (isStarting) await start.mutateAsync({});
    else await stop.mutateAsync({ reason });
    notifyOutcome({});
  };
  return (
    <OrderDialog
      {...orderTexts(words, isStarting ? "start" : "stop")}
      onClose={onClose}
      isDanger={!isStarting}
      onOrder={send}
    >
      {isStarting ? null : <ReasonField required value={reason} onChange={setReason} />}
    </OrderDialog>
  );
}
