// The sums of the books: every asset adds up to zero, shown row by row.

import { useQuery } from "@connectrpc/connect-query";
import { RefreshCw } from "lucide-react";
import type { GetTrialBalanceResponse, TrialBalanceRow, TrialBalanceSum } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { patientTransport } from "../../../api/transport.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { LEDGER_MESSAGES } from "./ledger-messages.ts";
import { ClassName } from "./named.tsx";

/** The trial balance at a moment. It is summed on request, not on every focus of the window. */
export function TrialBalance() {
  const messages = useMessages(LEDGER_MESSAGES);
  const when = useWhen();
  const { data, error, refetch, isFetching } = useQuery(
    LedgerService.method.getTrialBalance,
    {},
    { transport: patientTransport, staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false },
  );
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-muted">
          {data === undefined ? messages.slow : `${messages.takenAt} ${when(data.takenAt)}. `}
          {data === undefined ? null : data.isBalanced ? messages.balancedAbout : messages.notBalancedAbout}
        </p>
        <Button icon={<RefreshCw aria-hidden />} busy={isFetching} onClick={() => void refetch()}>
          {messages.again}
        </Button>
      </div>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <SkeletonLines lines={10} /> : null}
      {data === undefined ? null : <Books data={data} />}
    </>
  );
}

function Books({ data }: { readonly data: GetTrialBalanceResponse }) {
  const messages = useMessages(LEDGER_MESSAGES);
  return (
    <>
      <Card
        flush
        title={messages.sum}
        aside={
          <span data-testid="is-balanced">
            {data.isBalanced ? (
              <Badge tone="good">{messages.balanced}</Badge>
            ) : (
              <Badge tone="bad">{messages.notBalanced}</Badge>
            )}
          </span>
        }
      >
        <Table label={messages.sum} columns={useSumColumns()} rows={data.sums} keyOf={({ asset }) => asset} />
      </Card>
      <Card flush title={messages.trial}>
        <Table
          label={messages.trial}
          columns={useRowColumns()}
          rows={data.rows}
          keyOf={(row) => `${row.asset} ${row.class}`}
        />
      </Card>
    </>
  );
}

function useSumColumns(): readonly Column<TrialBalanceSum>[] {
  const messages = useMessages(LEDGER_MESSAGES);
  const amountOf = useAssetAmount();
  return [
    { key: "asset", head: messages.asset, cell: ({ asset }) => <Mono>{asset}</Mono> },
    { key: "debits", head: messages.debits, right: true, wide: true, cell: (sum) => amountOf(sum.debits, sum.asset) },
    {
      key: "credits",
      head: messages.credits,
      right: true,
      wide: true,
      cell: (sum) => amountOf(sum.credits, sum.asset),
    },
    {
      key: "balance",
      head: messages.balance,
      right: true,
      cell: ({ balance, asset }) => (
        <span className="inline-flex flex-wrap items-center justify-end gap-2 whitespace-nowrap">
          {amountOf(balance, asset)}
          {balance === "0" ? (
            <Badge tone="good">{messages.isZero}</Badge>
          ) : (
            <Badge tone="bad">{messages.isNotZero}</Badge>
          )}
        </span>
      ),
    },
  ];
}

function useRowColumns(): readonly Column<TrialBalanceRow>[] {
  const messages = useMessages(LEDGER_MESSAGES);
  const amountOf = useAssetAmount();
  return [
    {
      key: "class",
      head: messages.class,
      cell: (row) => (
        <>
          <ClassName name={row.class} /> <span className="text-xs text-muted">{row.asset}</span>
        </>
      ),
    },
    { key: "debits", head: messages.debits, right: true, wide: true, cell: (row) => amountOf(row.debits, row.asset) },
    {
      key: "credits",
      head: messages.credits,
      right: true,
      wide: true,
      cell: (row) => amountOf(row.credits, row.asset),
    },
    {
      key: "balance",
      head: messages.balance,
      right: true,
      cell: (row) => <span className="whitespace-nowrap">{amountOf(row.balance, row.asset)}</span>,
    },
    {
      key: "kept",
      head: messages.kept,
      right: true,
      wide: true,
      cell: ({ keptBalance, asset }) => (keptBalance === undefined ? UNKNOWN : amountOf(keptBalance, asset)),
    },
  ];
}
