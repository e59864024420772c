// The account's receipts and credit notes, each with its file.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { type Receipt, ReceiptKind } from "#gen/saldo/billing/v1/receipt_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { useFormats } from "../../i18n/format.ts";
import { useLanguage, useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { FileButton } from "../../components/file-button.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { RECEIPT_MESSAGES } from "./receipt-messages.ts";
import { isSettled } from "./top-up-stages.ts";

const PAGE_SIZE = 20;
const PAGED = {
  pageParamKey: "pageToken",
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;
/** The receipt of a payment is made some seconds after it. */
const ASK_AGAIN_MS = 3_000;
const MOST_QUESTIONS = 40;
const client = createClient(ReceiptService, transport);

/** The receipts, newest first. That of the open payment is waited for once it is paid. */
export function ReceiptsCard() {
  const messages = useMessages(RECEIPT_MESSAGES);
  const paid = usePaidTopUp();
  const pages = useInfiniteQuery(
    ReceiptService.method.listReceipts,
    { pageSize: PAGE_SIZE, pageToken: "" },
    {
      ...PAGED,
      refetchInterval: ({ state: { data, dataUpdateCount } }) => {
        const isThere = data?.pages.some((page) => page.receipts.some(({ topUpId }) => topUpId === paid)) ?? false;
        return paid === null || isThere || dataUpdateCount > MOST_QUESTIONS ? false : ASK_AGAIN_MS;
      },
    },
  );
  const { data, error, refetch, isFetchNextPageError } = pages;
  const receipts = data?.pages.flatMap((page) => page.receipts);
  const isSellerMissing = data?.pages.at(-1)?.sellerMissing ?? false;
  const columns = useColumns();
  return (
    <Card title={messages.receipts} flush>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {receipts === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {receipts?.length === 0 ? (
        <Empty title={messages.none}>{isSellerMissing ? messages.sellerMissing : messages.noneAbout}</Empty>
      ) : null}
      {receipts === undefined || receipts.length === 0 ? null : (
        <Table label={messages.receipts} columns={columns} rows={receipts} keyOf={({ id }) => id} />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}

/** The id of the open payment, once it is paid; the page's list of top-ups has its state. */
function usePaidTopUp(): string | null {
  const { topUp } = useSearch({ from: "/inside/billing" });
  const { data } = useInfiniteQuery(BillingService.method.listTopUps, { pageSize: PAGE_SIZE, pageToken: "" }, PAGED);
  const open = data?.pages.flatMap((page) => page.topUps).find(({ id }) => id === topUp);
  return open !== undefined && isSettled(open.state) ? open.id : null;
}

function useColumns(): readonly Column<Receipt>[] {
  const messages = useMessages(RECEIPT_MESSAGES);
  const formats = useFormats();
  const kindOf = ({ kind }: Receipt) => (kind === ReceiptKind.CREDIT_NOTE ? messages.creditNote : messages.receipt);
  return [
    {
      key: "number",
      head: messages.number,
      cell: (receipt) => (
        <>
          <span className="digits whitespace-nowrap">{receipt.number}</span>
          <span className="block text-xs text-muted md:hidden">
            {kindOf(receipt)} · <When at={receipt.datedAt} />
          </span>
          <span className="mt-1 block md:hidden">
            <ReceiptFile {...receipt} />
          </span>
        </>
      ),
    },
    { key: "kind", head: messages.kind, wide: true, cell: kindOf },
    { key: "date", head: messages.date, wide: true, cell: ({ datedAt }) => <When at={datedAt} /> },
    {
      key: "total",
      head: messages.total,
      right: true,
      cell: ({ total, tax }) => (
        <>
          {formats.rupiah(total)}
          {tax === "0" ? null : <span className="block text-xs text-muted">{messages.ofTax(formats.rupiah(tax))}</span>}
        </>
      ),
    },
    {
      key: "file",
      head: "PDF",
      right: true,
      wide: true,
      cell: (receipt) => <ReceiptFile {...receipt} />,
    },
  ];
}

function ReceiptFile({ id, number }: Pick<Receipt, "id" | "number">) {
  const messages = useMessages(RECEIPT_MESSAGES);
  const { language } = useLanguage();
  return (
    <FileButton
      label={messages.downloadNumber(number)}
      failed={messages.failed}
      file={() => client.getReceiptFile({ receiptId: id, language })}
    >
      {messages.download}
    </FileButton>
  );
}
