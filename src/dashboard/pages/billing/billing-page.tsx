import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { LedgerEntry } from "#gen/saldo/billing/v1/ledger_entry_pb.ts";
import type { TopUp } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { transport } from "../../api/transport.ts";
import { dayOf } from "../../i18n/days.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card, Stat } from "../../components/card.tsx";
import { CsvButton } from "../../components/csv-button.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { ShortId } from "../../components/facts.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { useMay } from "../../layouts/role.ts";
import { ProvenStatement } from "./proven-statement.tsx";
import { AutoTopUpCard } from "./auto-top-up-card.tsx";
import { BILLING_MESSAGES, REASON_MESSAGES } from "./billing-messages.ts";
import { BuyerCard } from "./buyer-card.tsx";
import { ReceiptsCard } from "./receipts-card.tsx";
import { StatementsCard } from "./statements-card.tsx";
import { TopUpCard } from "./top-up-card.tsx";
import { isPayable } from "./top-up-stages.ts";
import { TopUpBadge } from "./top-up-states.tsx";

const PAGE_SIZE = 20;
const PAGED = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;
const billing = createClient(BillingService, transport);

/** The balance, top-ups, and the ledger. */
export function BillingPage() {
  const messages = useMessages(BILLING_MESSAGES);
  const mayPay = useMay("pay");
  return (
    <Page title={messages.title} about={messages.about}>
      <Balances />
      {mayPay ? <TopUpCard /> : null}
      {mayPay ? <AutoTopUpCard /> : null}
      <History />
      <ReceiptsCard />
      <StatementsCard />
      <Ledger />
      <ProvenStatement />
      {mayPay ? <BuyerCard /> : null}
    </Page>
  );
}

function Balances() {
  const messages = useMessages(BILLING_MESSAGES);
  const formats = useFormats();
  const { data, error, refetch } = useQuery(BillingService.method.getBalance, {});
  if (error !== null && data === undefined) return <Failed error={error} retry={() => void refetch()} />;
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      <Stat label={messages.available}>
        <span data-testid="available">{formats.rupiah(data?.balance?.available)}</span>
      </Stat>
      <Stat label={messages.held} hint={messages.heldHint}>
        {formats.rupiah(data?.balance?.held)}
      </Stat>
      {(data?.balance?.owed ?? "0") === "0" ? null : (
        <Stat label={messages.owed} hint={messages.owedHint}>
          {formats.rupiah(data?.balance?.owed)}
        </Stat>
      )}
    </div>
  );
}

function History() {
  const messages = useMessages(BILLING_MESSAGES);
  const formats = useFormats();
  const navigate = useNavigate();
  const pages = useInfiniteQuery(BillingService.method.listTopUps, { pageSize: PAGE_SIZE, pageToken: "" }, PAGED);
  const { data, error, refetch, isFetchNextPageError } = pages;
  const topUps = data?.pages.flatMap((page) => page.topUps);
  const columns: readonly Column<TopUp>[] = [
    {
      key: "when",
      head: messages.when,
      cell: ({ createdAt, state, automatic }) => (
        <>
          <When at={createdAt} />
          {automatic ? <span className="block text-xs text-muted">{messages.automatic}</span> : null}
          <span className="mt-1 block md:hidden">
            <TopUpBadge state={state} />
          </span>
        </>
      ),
    },
    {
      key: "amount",
      head: messages.amount,
      right: true,
      cell: (topUp) => (
        <>
          {formats.rupiah(topUp.amount)}
          <span className="mt-1 block md:hidden">
            <ContinuePayment topUp={topUp} />
          </span>
        </>
      ),
    },
    {
      key: "state",
      head: messages.state,
      wide: true,
      cell: (topUp) => (
        <span className="flex flex-wrap items-center gap-3">
          <TopUpBadge state={topUp.state} />
          <ContinuePayment topUp={topUp} />
        </span>
      ),
    },
  ];
  return (
    <Card title={messages.history} flush>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {topUps === undefined && error === null ? <SkeletonLines /> : null}
      {topUps?.length === 0 ? <Empty title={messages.noHistory}>{messages.noHistoryAbout}</Empty> : null}
      {topUps === undefined || topUps.length === 0 ? null : (
        <Table
          label={messages.history}
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

/** The link to the provider's page of a payment that is not paid yet. It lies above the row's own button. */
function ContinuePayment({ topUp: { state, paymentUrl } }: { readonly topUp: TopUp }) {
  const messages = useMessages(BILLING_MESSAGES);
  const mayPay = useMay("pay");
  if (!mayPay || !isPayable(state) || paymentUrl === "") return null;
  return (
    <a
      href={paymentUrl}
      target="_blank"
      rel="noreferrer"
      className="relative z-1 inline-flex min-h-6 items-center gap-1.5 font-medium text-action underline"
    >
      <ExternalLink className="size-3.5 shrink-0" aria-hidden />
      {messages.continuePayment}
    </a>
  );
}

/** What an entry refers to: its request, or its top-up. */
function About({ requestId, topUpId }: Pick<LedgerEntry, "requestId" | "topUpId">) {
  const messages = useMessages(BILLING_MESSAGES);
  const variant = "block w-fit text-xs text-muted underline";
  const mayOpen = useMay("readUsage");
  if (requestId !== "" && !mayOpen) return null;
  if (requestId !== "") {
    return (
      <Link to="/usage" search={{ request: requestId }} className={variant} title={requestId}>
        {messages.ofRequest} <ShortId id={requestId} />
      </Link>
    );
  }
  if (topUpId === "") return null;
  return (
    <Link to="/billing" search={{ topUp: topUpId }} className={variant} title={topUpId}>
      {messages.ofTopUp} <ShortId id={topUpId} />
    </Link>
  );
}

/** The whole ledger as a file, however long that takes. */
function ledgerFile() {
  return { name: `saldo-ledger-${dayOf(new Date())}.csv`, pieces: billing.exportLedger({}, { timeoutMs: 0 }) };
}

function Ledger() {
  const messages = useMessages(BILLING_MESSAGES);
  const reasons: Readonly<Record<string, string>> = useMessages(REASON_MESSAGES);
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
      head: messages.when,
      wide: true,
      cell: ({ postedAt }) => <When at={postedAt} />,
    },
    {
      key: "reason",
      head: messages.reason,
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
      head: messages.change,
      right: true,
      cell: ({ amount, runningBalance }) => (
        <>
          {formats.cost(amount)}
          <span className="block text-xs whitespace-nowrap text-muted md:hidden">
            {messages.running} {formats.columnBalance(runningBalance)}
          </span>
        </>
      ),
    },
    {
      key: "running",
      head: messages.running,
      right: true,
      wide: true,
      cell: ({ runningBalance }) => formats.columnBalance(runningBalance),
    },
  ];
  return (
    <Card title={messages.ledger} flush aside={<CsvButton file={ledgerFile} />}>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null ? <SkeletonLines /> : null}
      {entries?.length === 0 ? <Empty title={messages.noLedger} /> : null}
      {entries === undefined || entries.length === 0 ? null : (
        <Table label={messages.ledger} columns={columns} rows={entries} keyOf={({ id, reason }) => `${id} ${reason}`} />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}
