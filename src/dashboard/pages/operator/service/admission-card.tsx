// The switch that stops new requests of all accounts.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Admission } from "#gen/saldo/operator/v1/admission_pb.ts";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts } from "../../../components/facts.tsx";
import { CommandDialog, commandTexts, ReasonField, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { SERVICE_MESSAGES } from "./service-messages.ts";

const ASK_AGAIN_MS = 15_000;

/** Whether requests are admitted, and the command that changes it. */
export function AdmissionCard() {
  const messages = useMessages(SERVICE_MESSAGES);
  const { data, error, refetch } = useQuery(SystemService.method.getAdmission, {}, { refetchInterval: ASK_AGAIN_MS });
  const admission = data?.admission;
  return (
    <Card
      title={messages.admission}
      aside={
        admission === undefined ? null : admission.stopped ? (
          <Badge tone="bad">{messages.stopped}</Badge>
        ) : (
          <Badge tone="good">{messages.admitted}</Badge>
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
  const messages = useMessages(SERVICE_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const when = useWhen();
  const [isAsked, setAsked] = useState(false);
  return (
    <div className="flex flex-col items-start gap-4">
      <p className="text-muted">{admission.stopped ? messages.stoppedAbout : messages.admittedAbout}</p>
      {admission.stopped ? (
        <div className="w-full">
          <Facts>
            <Fact name={messages.since}>{when(admission.since)}</Fact>
            <Fact name={shared.reason}>{admission.reason}</Fact>
          </Facts>
        </div>
      ) : null}
      <Button variant={admission.stopped ? "action" : "danger"} onClick={() => setAsked(true)}>
        {admission.stopped ? messages.start : messages.stop}
      </Button>
      {isAsked ? <SwitchDialog isStopped={admission.stopped} onClose={() => setAsked(false)} /> : null}
    </div>
  );
}

function SwitchDialog({ isStopped, onClose }: { readonly isStopped: boolean; readonly onClose: () => void }) {
  const messages = useMessages(SERVICE_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const stop = useCommand(SystemService.method.stopAdmission);
  const start = useCommand(SystemService.method.startAdmission);
  // The dialog keeps the command it was opened for, while the switch below is fetched again.
  const [isStarting] = useState(isStopped);
  const [reason, setReason] = useState("");
  const send = async () => {
    if (isStarting) await start.mutateAsync({});
    else await stop.mutateAsync({ reason });
    notifyOutcome({});
  };
  return (
    <CommandDialog
      {...commandTexts(messages, isStarting ? "start" : "stop")}
      onClose={onClose}
      isDanger={!isStarting}
      onCommand={send}
    >
      {isStarting ? null : <ReasonField required value={reason} onChange={setReason} />}
    </CommandDialog>
  );
}
