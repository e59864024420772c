// The stops of payouts that operators have ordered: what is stopped, by whom and why, and the orders that set and end one.

import { useState } from "react";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { PayoutStop } from "#gen/saldo/operator/v1/transfer_pb.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useWhen } from "../components/amounts.ts";
import { orderTexts, ReasonDialog, useNotifyOutcome, useOrder } from "../components/order.tsx";
import { useChainName } from "./chain-name.ts";
import { TRANSFERS_WORDS } from "./transfers-words.ts";

type Scope = Pick<PayoutStop, "chain" | "address">;
type Asked = { readonly kind: "stop" | "start"; readonly scope: Scope };

const EVERYTHING: Scope = { chain: "", address: "" };

/** A card with every stop. */
export function StopsCard({ stops }: { readonly stops: readonly PayoutStop[] }) {
  const words = useWords(TRANSFERS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const when = useWhen();
  const scopeText = useScopeText();
  const [asked, setAsked] = useState<Asked | null>(null);
  const isAllStopped = stops.some(({ chain }) => chain === "");
  return (
    <Card
      title={words.payouts}
      aside={
        stops.length === 0 ? (
          <Badge tone="good">{words.running}</Badge>
        ) : (
          <Badge tone="bad">{words.stoppedByOrder}</Badge>
        )
      }
    >
      <div className="flex flex-col items-start gap-4">
        <p className="text-muted">{words.payoutsAbout}</p>
        {stops.map((stop) => (
          <div key={`${stop.chain} ${stop.address}`} className="flex w-full flex-col items-start gap-3">
            <Facts>
              <Fact name={words.stopScope}>{scopeText(stop)}</Fact>
              <Fact name={words.stoppedBy}>{stop.operator}</Fact>
              <Fact name={words.stoppedSince}>{when(stop.stoppedAt)}</Fact>
              <Fact name={shared.reason}>{stop.reason}</Fact>
            </Facts>
            <Button look="action" onClick={() => setAsked({ kind: "start", scope: stop })}>
              {words.startPayouts}
            </Button>
          </div>
        ))}
        {isAllStopped ? null : (
          <Button look="danger" onClick={() => setAsked({ kind: "stop", scope: EVERYTHING })}>
            {words.stopPayouts}
          </Button>
        )}
        {asked === null ? null : <StopDialog asked={asked} onClose={() => setAsked(null)} />}
      </div>
    </Card>
  );
}

/** Asks for the reason and orders it. */
export function StopDialog({
  asked: { kind, scope },
  onClose,
}: {
  readonly asked: Asked;
  readonly onClose: () => void;
}) {
  const words = useWords(TRANSFERS_WORDS);
  const notifyOutcome = useNotifyOutcome();
  const scopeText = useScopeText();
  const stop = useOrder(OperatorService.method.stopPayouts);
  const start = useOrder(OperatorService.method.startPayouts);
  const isStop = kind === "stop";
  const send = async (reason: string) => {
    const order = { chain: scope.chain, address: scope.address, reason };
    notifyOutcome(await (isStop ? stop : start).mutateAsync(order));
  };
  return (
    <ReasonDialog
      {...orderTexts(words, isStop ? "stopPayouts" : "startPayouts")}
      onClose={onClose}
      isDanger={isStop}
      isReasonRequired
      onOrder={send}
    >
      <Facts>
        <Fact name={words.stopScope}>{scopeText(scope)}</Fact>
      </Facts>
    </ReasonDialog>
  );
}

function useScopeText() {
  const words = useWords(TRANSFERS_WORDS);
  const chainName = useChainName();
  return ({ chain, address }: Scope) =>
    chain === "" ? (
      words.allPayouts
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
