// Every merchant, and crediting incoming coins to a balance.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { MerchantSummary } from "#gen/saldo/operator/v1/merchant_pb.ts";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { Mono } from "../../../components/facts.tsx";
import { AccountLink, AccountName } from "../components/account-name.tsx";
import { Environment } from "../components/environment.tsx";
import { later } from "../components/later.tsx";
import { useCommandKey } from "../components/command-key.tsx";
import { Rows } from "../components/rows.tsx";
import { FEES_MESSAGES } from "./fees-messages.ts";

const PAGE_SIZE = 50;

const CreditDialog = later(() => import("./credit-dialog.tsx"), "CreditDialog");

/** The list. Each row has the command that credits the merchant. */
export function Merchants() {
  const messages = useMessages(FEES_MESSAGES);
  const [credited, setCredited] = useState<string | null>(null);
  const name = useCommandKey();
  const query = useInfiniteQuery(
    MerchantAdminService.method.listMerchants,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const columns: readonly Column<MerchantSummary>[] = [
    {
      key: "merchant",
      head: messages.merchant,
      cell: ({ id, accountId, environment }) => (
        <>
          <Mono>{id}</Mono>
          <span className="block text-xs text-muted md:hidden">
            <AccountName id={accountId} />
          </span>
          <span className="mt-1 block md:hidden">
            <Environment environment={environment} />
          </span>
        </>
      ),
    },
    {
      key: "environment",
      head: messages.environment,
      wide: true,
      cell: ({ environment }) => <Environment environment={environment} />,
    },
    {
      key: "account",
      head: messages.account,
      wide: true,
      cell: ({ accountId }) => <AccountLink id={accountId} />,
    },
    {
      key: "credit",
      head: <span className="sr-only">{messages.confirmCredit}</span>,
      acts: true,
      cell: ({ id }) => (
        <Button onClick={() => setCredited(id)} aria-label={`${messages.credit} ${id}`}>
          {messages.credit}
        </Button>
      ),
    },
  ];
  return (
    <Card flush title={messages.merchants}>
      <Rows
        query={query}
        rows={query.data?.pages.flatMap((page) => page.merchants)}
        label={messages.merchants}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title={messages.noMerchants}>{messages.noMerchantsAbout}</Empty>}
      />
      <CreditDialog
        given={credited === null ? null : { merchantId: credited, name, onClose: () => setCredited(null) }}
      />
    </Card>
  );
}
