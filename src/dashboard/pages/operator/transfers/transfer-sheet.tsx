// One transfer with everything there is of it, and the orders that end its waiting.

import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { AccountTransfer } from "#gen/saldo/operator/v1/transfer_pb.ts";
import { isNotThere } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Button, LinkButton } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { StatementCards } from "../../transfers/statement-cards.tsx";
import { Timeline } from "../../transfers/timeline.tsx";
import { TransferFacts } from "../../transfers/transfer-facts.tsx";
import { isOpen, mayBeCanceled } from "../../transfers/transfer-status.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { NotLoaded } from "../components/rows.tsx";
import { type Decision, DecisionDialog } from "./decision-dialog.tsx";
import { TransferBadges } from "./transfer-badges.tsx";
import { TRANSFERS_WORDS } from "./transfers-words.ts";

const FOLLOWED_EVERY_MS = 3_000;

/** Opens at the right. */
export function TransferSheet({ transferId, onClose }: { readonly transferId: string; readonly onClose: () => void }) {
  const words = useWords(TRANSFERS_WORDS);
  const [decided, setDecided] = useState<{ readonly transfer: Transfer; readonly decision: Decision } | null>(null);
  return (
    <>
      <Dialog side wide open onClose={onClose} title={words.transfer}>
        <Sheet transferId={transferId} onDecide={setDecided} />
      </Dialog>
      {decided === null ? null : <DecisionDialog {...decided} onClose={() => setDecided(null)} />}
    </>
  );
}

type Decide = (decided: { readonly transfer: Transfer; readonly decision: Decision }) => void;

function Sheet({ transferId, onDecide }: { readonly transferId: string; readonly onDecide: Decide }) {
  const words = useWords(TRANSFERS_WORDS);
  const query = useQuery(
    OperatorService.method.getTransfer,
    { transferId },
    {
      refetchInterval: ({ state: { data } }) =>
        isOpen(data?.statement?.transfer?.status ?? "") ? FOLLOWED_EVERY_MS : false,
    },
  );
  const { data, error } = query;
  if (error !== null && data === undefined) {
    return isNotThere(error) ? <Empty title={words.missing} /> : <NotLoaded query={query} />;
  }
  const { transfer: owned, statement } = data ?? {};
  if (owned === undefined || statement?.transfer === undefined) return <SkeletonLines lines={8} />;
  return <Shown owned={owned} statement={statement} transfer={statement.transfer} onDecide={onDecide} />;
}

type ShownProps = {
  readonly owned: AccountTransfer;
  readonly statement: TransferStatement;
  readonly transfer: Transfer;
  readonly onDecide: Decide;
};

function Shown({ owned, statement, transfer, onDecide }: ShownProps) {
  const words = useWords(TRANSFERS_WORDS);
  return (
    <div className="flex flex-col gap-4">
      <Heading owned={owned} transfer={transfer} />
      <div className="flex flex-wrap gap-2">
        {owned.awaitsApproval ? (
          <Button look="action" onClick={() => onDecide({ transfer, decision: "approve" })}>
            {words.approve}
          </Button>
        ) : null}
        {mayBeCanceled(transfer.status) ? (
          <Button look="danger" onClick={() => onDecide({ transfer, decision: "reject" })}>
            {words.reject}
          </Button>
        ) : null}
        <LinkButton to="/operator/log" search={{ subject: transfer.id }}>
          {words.log}
        </LinkButton>
      </div>
      <TransferFacts statement={statement} transfer={transfer} />
      <Timeline transfer={transfer} />
      <StatementCards statement={statement} transfer={transfer} />
    </div>
  );
}

function Heading({
  owned: { accountId, merchantId, awaitsApproval },
  transfer,
}: {
  readonly owned: AccountTransfer;
  readonly transfer: Transfer;
}) {
  const words = useWords(TRANSFERS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  return (
    <>
      <div>
        <p className="digits text-xl font-semibold break-all">
          {formats.coins(transfer.receivedAmount, transfer.currencyCode)}
        </p>
        <p className="font-mono text-[0.8125rem] break-all text-muted">{transfer.externalId}</p>
        <p className="mt-2" aria-live="polite" data-testid="transfer-status">
          <TransferBadges transfer={transfer} awaitsApproval={awaitsApproval} />
        </p>
      </div>
      <Facts>
        <Fact name={shared.account}>
          <Link to="/operator/accounts/$accountId" params={{ accountId }} className="underline">
            <Mono>{accountId}</Mono>
          </Link>
        </Fact>
        <Fact name={words.merchant}>
          <Mono>{merchantId}</Mono>
        </Fact>
      </Facts>
    </>
  );
}
