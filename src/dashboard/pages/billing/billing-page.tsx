import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useNavigate } from "@tanstack/react-router";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { LedgerEntry } from "#gen/saldo/billing/v1/ledger_entry_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { Card, Stat } from "../../parts/card.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { BILLING_WORDS, REASON_WORDS } from "./billing-words.ts";
import { TopUpCard } from "./top-up-card.tsx";
import { TopUpBadge } from "./top-up-states.tsx";

const PAGE_SIZE = 20;

/** What there is, how to get more, and where it went. */
export function BillingPage() {
  const words = useWords(BILLING_WORDS);
  return (
    <Page title={words.title} about={words.about}>
      <Balances />
      <TopUpCard />
      <History />
      <Ledger />
    </Page>
  );
}

function Balances() {
  const words = useWords(BILLING_WORDS);
  const formats = useFormats();
  const { data, error, refetch } = useQuery(BillingService.method.getBalance, {});
  if (error !== null) return <Failed error={error} retry={() => void refetch()} />;
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      <Stat label={words.available}>
        <span data-testid="available">{formats.rupiah(data?.balance?.available)}</span>
      </Stat>
      <Stat label={words.held} hint={words.heldHint}>
        {formats.rupiah(data?.balance?.held)}
      </Stat>
      {(data?.balance?.owed ?? "0") === "0" ? null : (
        <Stat label={words.owed} hint={words.owedHint}>
          {formats.rupiah(data?.balance?.owed)}
        </Stat>
      )}
    </div>
  );
}

function History() {
  const words = useWords(BILLING_WORDS);
  const formats = useFormats();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(BillingService.method.listTopUps, { pageSize: PAGE_SIZE });
  const columns: readonly Column<TopUp>[] = [
    {
      key: "when",
      head: words.when,
      cell: ({ createdAt }) => (createdAt === undefined ? "" : formats.time(timestampDate(createdAt))),
    },
    { key: "amount", head: words.amount, right: true, cell: ({ amount }) => formats.rupiah(amount) },
    { key: "state", head: words.state, cell: ({ state }) => <TopUpBadge state={state} /> },
  ];
  return (
    <Card title={words.history} flush>
      {error !== null ? <Failed error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <SkeletonLines /> : null}
      {data?.topUps.length === 0 ? <Empty title={words.noHistory}>{words.noHistoryAbout}</Empty> : null}
      {data === undefined || data.topUps.length === 0 ? null : (
        <Table
          label={words.history}
          columns={columns}
          rows={data.topUps}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/billing", search: { topUp: id } })}
        />
      )}
    </Card>
  );
}

function Ledger() {
  const words = useWords(BILLING_WORDS);
  const reasons: Readonly<Record<string, string>> = useWords(REASON_WORDS);
  const formats = useFormats();
  const pages = useInfiniteQuery(
    BillingService.method.listLedgerEntries,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const { data, error, refetch } = pages;
  const entries = data?.pages.flatMap((page) => page.entries);
  const columns: readonly Column<LedgerEntry>[] = [
    {
      key: "when",
      head: words.when,
      cell: ({ postedAt }) => (postedAt === undefined ? "" : formats.time(timestampDate(postedAt))),
    },
    { key: "reason", head: words.reason, cell: ({ reason }) => reasons[reason] ?? reason },
    { key: "change", head: words.change, right: true, cell: ({ amount }) => formats.cost(amount) },
    {
      key: "running",
      head: words.running,
      right: true,
      wide: true,
      cell: ({ runningBalance }) => formats.cost(runningBalance),
    },
  ];
  return (
    <Card title={words.ledger} flush>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null ? <SkeletonLines /> : null}
      {entries?.length === 0 ? <Empty title={words.noLedger} /> : null}
      {entries === undefined || entries.length === 0 ? null : (
        <Table label={words.ledger} columns={columns} rows={entries} keyOf={({ id, reason }) => `${id} ${reason}`} />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}
