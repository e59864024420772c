// One transfer with all its data. It is fetched again while it can still change.

import { useQuery } from "@connectrpc/connect-query";
import { Link, Navigate, useParams } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import type { TransferStatement } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { isNotThere } from "../../api/transport.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { CancelTransfer } from "./cancel-transfer.tsx";
import { environmentNameOf } from "./environments.tsx";
import { EnvironmentBadge } from "./environments.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { StatementCards } from "./statement-cards.tsx";
import { Timeline } from "./timeline.tsx";
import { TransferFacts } from "./transfer-facts.tsx";
import { isOpen, mayBeCanceled, StatusBadge } from "./transfer-status.tsx";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

const FOLLOWED_EVERY_MS = 2_000;

/** The page of the transfer that the address names. */
export function TransferPage() {
  const messages = useMessages(TRANSFER_MESSAGES);
  const { environment } = useMerchantHere();
  const { transferId } = useParams({ from: "/inside/transfers/$environment/$transferId" });
  const { data, error, refetch } = useQuery(
    MerchantTransferService.method.getTransferStatement,
    { id: transferId },
    {
      refetchInterval: ({ state }) =>
        isOpen(state.data?.statement?.transfer?.status ?? "") ? FOLLOWED_EVERY_MS : false,
    },
  );
  const { statement } = data ?? {};
  const ordered = environmentNameOf(statement?.transfer?.environment ?? Environment.UNSPECIFIED) ?? environment;
  // In the other environment's address it would be shown, and canceled, as a transfer of that environment.
  if (ordered !== environment) {
    return <Navigate to="/transfers/$environment/$transferId" params={{ environment: ordered, transferId }} replace />;
  }
  return (
    <>
      <Link
        to="/transfers/$environment"
        params={{ environment }}
        className="inline-flex min-h-6 items-center gap-1.5 self-start text-muted hover:text-ink"
      >
        <ArrowLeft className="size-4" aria-hidden />
        {messages.back}
      </Link>
      {error !== null && statement === undefined ? <NotShown error={error} retry={() => void refetch()} /> : null}
      {statement === undefined && error === null ? <SkeletonLines lines={8} /> : null}
      {statement?.transfer === undefined ? null : <Shown statement={statement} transfer={statement.transfer} />}
    </>
  );
}

function NotShown({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const messages = useMessages(TRANSFER_MESSAGES);
  if (!isNotThere(error)) return <Failed error={error} retry={retry} />;
  return (
    <Card>
      <Empty title={messages.gone}>{messages.goneAbout}</Empty>
    </Card>
  );
}

function Shown({ statement, transfer }: { readonly statement: TransferStatement; readonly transfer: Transfer }) {
  const formats = useFormats();
  const { environment } = useMerchantHere();
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="digits text-xl font-semibold break-all">
            {formats.coins(transfer.receivedAmount, transfer.currencyCode)}
          </h2>
          <p className="font-mono text-[0.8125rem] break-all text-muted">{transfer.externalId}</p>
          <div className="mt-2 flex flex-wrap gap-2">
            <span aria-live="polite" data-testid="transfer-status">
              <StatusBadge status={transfer.status} />
            </span>
            <EnvironmentBadge environment={environment} />
          </div>
        </div>
        {mayBeCanceled(transfer.status) ? <CancelTransfer transferId={transfer.id} /> : null}
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <TransferFacts statement={statement} transfer={transfer} />
        <Timeline transfer={transfer} />
      </div>
      <StatementCards statement={statement} transfer={transfer} />
    </>
  );
}
