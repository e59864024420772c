// One transfer with all its data, and the commands that end its waiting.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";
import type { AccountTransfer } from "#gen/saldo/operator/v1/transfer_pb.ts";
import { isNotThere } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button, LinkButton } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { StatementCards } from "../../transfers/statement-cards.tsx";
import { Timeline } from "../../transfers/timeline.tsx";
import { TransferFacts } from "../../transfers/transfer-facts.tsx";
import { isOpen, mayBeCanceled } from "../../transfers/transfer-status.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { AccountWithId } from "../components/account-name.tsx";
import { NotLoaded } from "../components/rows.tsx";
import { type Decision, DecisionDialog } from "./decision-dialog.tsx";
import { TransferBadges } from "./transfer-badges.tsx";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

const FOLLOWED_EVERY_MS = 3_000;

/** Opens at the right. */
export function TransferSheet({ transferId, onClose }: { readonly transferId: string; readonly onClose: () => void }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const [decided, setDecided] = useState<{ readonly transfer: Transfer; readonly decision: Decision } | null>(null);
  return (
    <>
      <Dialog side wide open onClose={onClose} title={messages.transfer}>
        <Sheet transferId={transferId} onDecide={setDecided} />
      </Dialog>
      {decided === null ? null : <DecisionDialog {...decided} onClose={() => setDecided(null)} />}
    </>
  );
}

type Decide = (decided: { readonly transfer: Transfer; readonly decision: Decision }) => void;

function Sheet({ transferId, onDecide }: { readonly transferId: string; readonly onDecide: Decide }) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  const query = useQuery(
    TransferService.method.getTransfer,
    { transferId },
    {
      refetchInterval: ({ state: { data } }) =>
        isOpen(data?.statement?.transfer?.status ?? "") ? FOLLOWED_EVERY_MS : false,
    },
  );
  const { data, error } = query;
  if (error !== null && data === undefined) {
    return isNotThere(error) ? <Empty title={messages.missing} /> : <NotLoaded query={query} />;
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
  const messages = useMessages(TRANSFERS_MESSAGES);
  return (
    <div className="flex flex-col gap-4">
      <Heading owned={owned} transfer={transfer} />
      <div className="flex flex-wrap gap-2">
        {owned.awaitsApproval ? (
          <Button variant="action" onClick={() => onDecide({ transfer, decision: "approve" })}>
            {messages.approve}
          </Button>
        ) : null}
        {mayBeCanceled(transfer.status) ? (
          <Button variant="danger" onClick={() => onDecide({ transfer, decision: "reject" })}>
            {messages.reject}
          </Button>
        ) : null}
        <LinkButton to="/operator/log" search={{ subject: transfer.id }}>
          {messages.log}
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
  const messages = useMessages(TRANSFERS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
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
          <AccountWithId id={accountId} />
        </Fact>
        <Fact name={messages.merchant}>
          <Mono>{merchantId}</Mono>
        </Fact>
      </Facts>
    </>
  );
}
