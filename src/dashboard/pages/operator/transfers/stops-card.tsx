// The stops of payouts that operators made: their scope, operator and reason, and the commands that set and end
// one.

import { useState } from "react";
import { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import type { PayoutStop } from "#gen/saldo/operator/v1/payout_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useWhen } from "../components/amounts.ts";
import { commandTexts, ReasonDialog, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { useChainName } from "./chain-name.ts";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

type Scope = Pick<PayoutStop, "chain" | "address">;
type Asked = { readonly kind: "stop" | "start"; readonly scope: Scope };

const EVERYTHING: Scope = { chain: "", address: "" };

/** A card with every stop. */
export function StopsCard({ stops }: { readonly stops: readonly PayoutStop[] }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const when = useWhen();
  const scopeText = useScopeText();
  const [asked, setAsked] = useState<Asked | null>(null);
  const isAllStopped = stops.some(({ chain }) => chain === "");
  return (
    <Card
      title={messages.payouts}
      aside={
        stops.length === 0 ? (
          <Badge tone="good">{messages.running}</Badge>
        ) : (
          <Badge tone="bad">{messages.stoppedByOperator}</Badge>
        )
      }
    >
      <div className="flex flex-col items-start gap-4">
        <p className="text-muted">{messages.payoutsAbout}</p>
        {stops.map((stop) => (
          <div key={`${stop.chain} ${stop.address}`} className="flex w-full flex-col items-start gap-3">
            <Facts>
              <Fact name={messages.stopScope}>{scopeText(stop)}</Fact>
              <Fact name={messages.stoppedBy}>{stop.operator}</Fact>
              <Fact name={messages.stoppedSince}>{when(stop.stoppedAt)}</Fact>
              <Fact name={shared.reason}>{stop.reason}</Fact>
            </Facts>
            <Button variant="action" onClick={() => setAsked({ kind: "start", scope: stop })}>
              {messages.startPayouts}
            </Button>
          </div>
        ))}
        {isAllStopped ? null : (
          <Button variant="danger" onClick={() => setAsked({ kind: "stop", scope: EVERYTHING })}>
            {messages.stopPayouts}
          </Button>
        )}
        {asked === null ? null : <StopDialog asked={asked} onClose={() => setAsked(null)} />}
      </div>
    </Card>
  );
}

/** Asks for the reason and sends the command. */
export function StopDialog({
  asked: { kind, scope },
  onClose,
}: {
  readonly asked: Asked;
  readonly onClose: () => void;
}) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const scopeText = useScopeText();
  const stop = useCommand(PayoutService.method.stopPayouts);
  const start = useCommand(PayoutService.method.startPayouts);
  const isStop = kind === "stop";
  const send = async (reason: string) => {
    const command = { chain: scope.chain, address: scope.address, reason };
    notifyOutcome(await (isStop ? stop : start).mutateAsync(command));
  };
  return (
    <ReasonDialog
      {...commandTexts(messages, isStop ? "stopPayouts" : "startPayouts")}
      onClose={onClose}
      isDanger={isStop}
      isReasonRequired
      onCommand={send}
    >
      <Facts>
        <Fact name={messages.stopScope}>{scopeText(scope)}</Fact>
      </Facts>
    </ReasonDialog>
  );
}

function useScopeText() {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const chainName = useChainName();
  return ({ chain, address }: Scope) =>
    chain === "" ? (
      messages.allPayouts
    ) : (
      <>
        {chainName(chain)}
        {address === "" ? null : (
          <span className="block break-all">
            <Mono>{address}</Mono>
          </span>
        )}
      </>
    );
}
