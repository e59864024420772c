import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { FeeRow } from "#gen/saldo/operator/v1/fee_pb.ts";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { useWhen, UUID_PATTERN } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { SwitchFilter } from "../components/filter-fields.tsx";
import { Filters } from "../components/filters.tsx";
import { later } from "../components/later.tsx";
import { Rows } from "../components/rows.tsx";
import { FEES_MESSAGES } from "./fees-messages.ts";
import { Merchants } from "./merchants.tsx";

const PAGE_SIZE = 50;

const SetFeeDialog = later(() => import("./set-fee-dialog.tsx"), "SetFeeDialog");

/** The fees of transfers, and the merchants that pay them. */
export function FeesPage() {
  const messages = useMessages(FEES_MESSAGES);
  const [isAsked, setAsked] = useState(false);
  const { merchant, old } = useSearch({ from: "/inside/operator/fees" });
  const query = useInfiniteQuery(
    MerchantAdminService.method.listFees,
    { merchantId: merchant ?? "", withReplaced: old !== undefined, pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        <Button variant="action" onClick={() => setAsked(true)}>
          {messages.set}
        </Button>
      }
    >
      <Filters values={{ merchant, old }}>
        <TextField name="merchant" label={messages.merchant} pattern={UUID_PATTERN} className="w-full sm:w-80" />
        <SwitchFilter name="old">{messages.withReplaced}</SwitchFilter>
      </Filters>
      <Card flush title={messages.schedule}>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.rows)}
          label={messages.schedule}
          columns={useColumns()}
          keyOf={({ id }) => id}
          empty={<Empty title={messages.nothing}>{messages.nothingAbout}</Empty>}
        />
      </Card>
      <Merchants />
      <SetFeeDialog given={isAsked ? { merchantId: merchant ?? "", onClose: () => setAsked(false) } : null} />
    </Page>
  );
}

function useColumns(): readonly Column<FeeRow>[] {
  const messages = useMessages(FEES_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  // A row for every currency has amounts in the currency of each transfer.
  const coins = (amount: string | undefined, currencyCode: string) =>
    amount === undefined ? UNKNOWN : formats.coins(amount, currencyCode).trim();
  return [
    {
      key: "scope",
      head: messages.scope,
      cell: ({ merchantId, currencyCode }) => (
        <>
          <span className="block">{currencyCode === "" ? messages.everyCurrency : <Mono>{currencyCode}</Mono>}</span>
          <span className="block text-xs text-muted">
            {merchantId === "" ? messages.everyMerchant : <Mono>{merchantId}</Mono>}
          </span>
        </>
      ),
    },
    {
      key: "version",
      head: messages.version,
      cell: ({ version, isCurrent }) => (
        <span className="flex flex-wrap items-center gap-2">
          {formats.count(version)}
          <Badge tone={isCurrent ? "good" : "neutral"}>{isCurrent ? messages.current : messages.replaced}</Badge>
        </span>
      ),
    },
    {
      key: "flat",
      head: messages.flat,
      right: true,
      cell: ({ terms, currencyCode }) => coins(terms?.flat, currencyCode),
    },
    {
      key: "rate",
      head: messages.rate,
      right: true,
      cell: ({ terms }) => (terms === undefined ? UNKNOWN : formats.rate(terms.rate)),
    },
    {
      key: "min",
      head: messages.min,
      right: true,
      wide: true,
      cell: ({ terms, currencyCode }) => coins(terms?.min, currencyCode),
    },
    {
      key: "max",
      head: messages.max,
      right: true,
      wide: true,
      cell: ({ terms, currencyCode }) => coins(terms?.max, currencyCode),
    },
    {
      key: "since",
      head: messages.since,
      wide: true,
      cell: ({ createdAt }) => <span className="text-muted md:whitespace-nowrap">{when(createdAt)}</span>,
    },
  ];
}
