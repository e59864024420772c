import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { LedgerEntry } from "#gen/saldo/billing/v1/ledger_entry_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { transport } from "../../api/transport.ts";
import { dayOf } from "../../i18n/days.ts";
import { useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { Card, Stat } from "../../components/card.tsx";
import { CsvButton } from "../../components/csv-button.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { ShortId } from "../../components/facts.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { BILLING_WORDS, REASON_WORDS } from "./billing-words.ts";
import { TopUpCard } from "./top-up-card.tsx";
import { TopUpBadge } from "./top-up-states.tsx";

const PAGE_SIZE = 20;
const PAGED = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;
const billing = createClient(BillingService, transport);

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
  if (error !== null && data === undefined) return <Failed error={error} retry={() => void refetch()} />;
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
  const pages = useInfiniteQuery(BillingService.method.listTopUps, { pageSize: PAGE_SIZE, pageToken: "" }, PAGED);
  const { data, error, refetch, isFetchNextPageError } = pages;
  const topUps = data?.pages.flatMap((page) => page.topUps);
  const columns: readonly Column<TopUp>[] = [
    {
      key: "when",
      head: words.when,
      cell: ({ createdAt, state }) => (
        <>
          <When at={createdAt} />
          <span className="mt-1 block md:hidden">
            <TopUpBadge state={state} />
          </span>
        </>
      ),
    },
    { key: "amount", head: words.amount, right: true, cell: ({ amount }) => formats.rupiah(amount) },
    { key: "state", head: words.state, wide: true, cell: ({ state }) => <TopUpBadge state={state} /> },
  ];
  return (
    <Card title={words.history} flush>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {topUps === undefined && error === null ? <SkeletonLines /> : null}
      {topUps?.length === 0 ? <Empty title={words.noHistory}>{words.noHistoryAbout}</Empty> : null}
      {topUps === undefined || topUps.length === 0 ? null : (
        <Table
          label={words.history}
          columns={columns}
          rows={topUps}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/billing", search: { topUp: id } })}
        />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}

/** What a line is about: its request, or its top-up. */
function About({ requestId, topUpId }: Pick<LedgerEntry, "requestId" | "topUpId">) {
  const words = useWords(BILLING_WORDS);
  const look = "block w-fit text-xs text-muted underline";
  if (requestId !== "") {
    return (
      <Link to="/usage" search={{ request: requestId }} className={look} title={requestId}>
        {words.ofRequest} <ShortId id={requestId} />
      </Link>
    );
  }
  if (topUpId === "") return null;
  return (
    <Link to="/billing" search={{ topUp: topUpId }} className={look} title={topUpId}>
      {words.ofTopUp} <ShortId id={topUpId} />
    </Link>
  );
}

/** The whole ledger as a file, however long that takes. */
function ledgerFile() {
  return { name: `saldo-ledger-${dayOf(new Date())}.csv`, pieces: billing.exportLedger({}, { timeoutMs: 0 }) };
}

function Ledger() {
  const words = useWords(BILLING_WORDS);
  const reasons: Readonly<Record<string, string>> = useWords(REASON_WORDS);
  const formats = useFormats();
  const pages = useInfiniteQuery(
    BillingService.method.listLedgerEntries,
    { pageSize: PAGE_SIZE, pageToken: "" },
    PAGED,
  );
  const { data, error, refetch, isFetchNextPageError } = pages;
  const entries = data?.pages.flatMap((page) => page.entries);
  const columns: readonly Column<LedgerEntry>[] = [
    {
      key: "when",
      head: words.when,
      wide: true,
      cell: ({ postedAt }) => <When at={postedAt} />,
    },
    {
      key: "reason",
      head: words.reason,
      cell: ({ reason, postedAt, requestId, topUpId }) => (
        <>
          {reasons[reason] ?? reason}
          <About requestId={requestId} topUpId={topUpId} />
          <span className="block text-xs text-muted md:hidden">
            <When at={postedAt} />
          </span>
        </>
      ),
    },
    {
      key: "change",
      head: words.change,
      right: true,
      cell: ({ amount, runningBalance }) => (
        <>
          {formats.cost(amount)}
          <span className="block text-xs whitespace-nowrap text-muted md:hidden">
            {words.running} {formats.columnBalance(runningBalance)}
          </span>
        </>
      ),
    },
    {
      key: "running",
      head: words.running,
      right: true,
      wide: true,
      cell: ({ runningBalance }) => formats.columnBalance(runningBalance),
    },
  ];
  return (
    <Card title={words.ledger} flush aside={<CsvButton file={ledgerFile} />}>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null ? <SkeletonLines /> : null}
      {entries?.length === 0 ? <Empty title={words.noLedger} /> : null}
      {entries === undefined || entries.length === 0 ? null : (
        <Table label={words.ledger} columns={columns} rows={entries} keyOf={({ id, reason }) => `${id} ${reason}`} />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}
