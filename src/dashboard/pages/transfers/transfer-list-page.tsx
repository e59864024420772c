import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { SelectField } from "../../components/field.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { MerchantBalances } from "./balances.tsx";
import { networkName } from "./coins.ts";
import { Limits } from "./limits.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";
import { isOpen, isStatus, StatusBadge, STATUSES } from "./transfer-status.tsx";

const PAGE_SIZE = 25;
/** How often the list is fetched again while one of its transfers is under way. */
const FOLLOWED_EVERY_MS = 5_000;

/** The balances, and the transfers. */
export function TransferListPage() {
  return (
    <>
      <MerchantBalances />
      <Transfers />
      <Limits />
    </>
  );
}

function Transfers() {
  const messages = useMessages(MERCHANT_MESSAGES);
  const navigate = useNavigate();
  const { merchantId, environment } = useMerchantHere();
  const { status } = useSearch({ from: "/inside/transfers/$environment/" });
  const show = (text: string) =>
    void navigate({
      to: "/transfers/$environment",
      params: { environment },
      search: isStatus(text) ? { status: text } : {},
      resetScroll: false,
    });
  const query = useInfiniteQuery(
    MerchantTransferService.method.listTransfers,
    { merchantId, status: isStatus(status) ? status : "", pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ({ state }) =>
        state.data?.pages.some(({ transfers }) => transfers.some((transfer) => isOpen(transfer.status))) === true
          ? FOLLOWED_EVERY_MS
          : false,
    },
  );
  const { data, error, refetch, isFetchNextPageError } = query;
  const transfers = data?.pages.flatMap((page) => page.transfers);
  const columns = useTransferColumns();
  return (
    <Card title={messages.list} flush aside={<StatusFilter value={isStatus(status) ? status : ""} onChange={show} />}>
      {error === null || isFetchNextPageError ? null : (
        <div className="p-4 pt-0">
          <Failed error={error} retry={() => void refetch()} />
        </div>
      )}
      {transfers === undefined && error === null ? <SkeletonLines lines={6} /> : null}
      {transfers?.length === 0 && status === undefined ? <NoTransfers /> : null}
      {transfers?.length === 0 && status !== undefined ? (
        <Empty title={messages.noneOfStatus} action={<Button onClick={() => show("")}>{messages.showAll}</Button>} />
      ) : null}
      {transfers === undefined || transfers.length === 0 ? null : (
        <Table
          label={messages.list}
          columns={columns}
          rows={transfers}
          keyOf={({ id }) => id}
          openLabel={() => messages.open}
          onOpen={({ id }) =>
            void navigate({ to: "/transfers/$environment/$transferId", params: { environment, transferId: id } })
          }
        />
      )}
      <LoadMore pages={query} />
    </Card>
  );
}

function StatusFilter({ value, onChange }: { readonly value: string; readonly onChange: (status: string) => void }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const { environment } = useMerchantHere();
  return (
    <div className="flex flex-wrap items-end gap-3">
      <SelectField label={messages.status} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{messages.all}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {messages[status]}
          </option>
        ))}
      </SelectField>
      <LinkButton
        variant="action"
        icon={<Send aria-hidden />}
        to="/transfers/$environment/new"
        params={{ environment }}
      >
        {messages.order}
      </LinkButton>
    </div>
  );
}

function NoTransfers() {
  const messages = useMessages(MERCHANT_MESSAGES);
  return <Empty title={messages.none}>{messages.noneAbout}</Empty>;
}

function useTransferColumns(): readonly Column<Transfer>[] {
  const messages = useMessages(MERCHANT_MESSAGES);
  const formats = useFormats();
  return [
    {
      key: "externalId",
      head: messages.externalId,
      cell: ({ externalId, createdAt }) => (
        <>
          <span className="font-mono text-[0.8125rem] break-all">{externalId}</span>
          <span className="block text-xs text-muted">{formats.time(new Date(createdAt))}</span>
        </>
      ),
    },
    {
      key: "received",
      head: messages.received,
      right: true,
      cell: ({ receivedAmount, currencyCode, network }) => (
        <>
          <span>{formats.coins(receivedAmount, currencyCode)}</span>
          <span className="block text-xs text-muted">{networkName(network)}</span>
        </>
      ),
    },
    {
      key: "fee",
      head: messages.fee,
      right: true,
      wide: true,
      cell: ({ fee, currencyCode }) => <span className="text-muted">{formats.coins(fee, currencyCode)}</span>,
    },
    {
      key: "total",
      head: messages.total,
      right: true,
      wide: true,
      cell: ({ totalAmount, currencyCode }) => formats.coins(totalAmount, currencyCode),
    },
    { key: "status", head: messages.status, cell: ({ status }) => <StatusBadge status={status} /> },
  ];
}
