// Every merchant, and putting coins that came in on a balance.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { MerchantSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { amountOf, COINS } from "../../../language/read-amount.ts";
import { AmountField } from "../../../parts/amount-field.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Button } from "../../../parts/button.tsx";
import { Card } from "../../../parts/card.tsx";
import { TextField } from "../../../parts/field.tsx";
import { useNotify } from "../../../parts/notices.tsx";
import { Empty } from "../../../parts/states.tsx";
import type { Column } from "../../../parts/table.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { Fact, Facts, Mono } from "../../../parts/facts.tsx";
import { OrderDialog, ReasonField, useOrder } from "../parts/order.tsx";
import { isReusedName } from "../parts/refused.tsx";
import { Rows } from "../parts/rows.tsx";
import { FEES_WORDS } from "./fees-words.ts";

const PAGE_SIZE = 50;
const LONGEST_CURRENCY = 16;
const LONGEST_NETWORK = 32;

/** The list. Each row has the order that credits. */
export function Merchants() {
  const words = useWords(FEES_WORDS);
  const [credited, setCredited] = useState<string | null>(null);
  // As with accounts: the name of the next order lasts until an answer has come.
  const name = useRef(crypto.randomUUID());
  const query = useInfiniteQuery(
    OperatorService.method.listMerchants,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const columns: readonly Column<MerchantSummary>[] = [
    {
      key: "merchant",
      head: words.merchant,
      cell: ({ id, environment }) => (
        <>
          <Mono>{id}</Mono>
          <span className="mt-1 block md:hidden">
            <EnvironmentBadge environment={environment} />
          </span>
        </>
      ),
    },
    {
      key: "environment",
      head: words.environment,
      wide: true,
      cell: ({ environment }) => <EnvironmentBadge environment={environment} />,
    },
    {
      key: "account",
      head: words.account,
      wide: true,
      cell: ({ accountId }) => (
        <Link to="/operator/accounts/$accountId" params={{ accountId }} className="underline">
          <Mono>{accountId}</Mono>
        </Link>
      ),
    },
    {
      key: "credit",
      head: <span className="sr-only">{words.confirmCredit}</span>,
      acts: true,
      cell: ({ id }) => (
        <Button onClick={() => setCredited(id)} aria-label={`${words.credit} ${id}`}>
          {words.credit}
        </Button>
      ),
    },
  ];
  return (
    <Card flush title={words.merchants}>
      <Rows
        query={query}
        rows={query.data?.pages.flatMap((page) => page.merchants)}
        label={words.merchants}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title={words.noMerchants}>{words.noMerchantsAbout}</Empty>}
      />
      {credited === null ? null : <CreditDialog merchantId={credited} name={name} onClose={() => setCredited(null)} />}
    </Card>
  );
}

function EnvironmentBadge({ environment }: { readonly environment: string }) {
  return (
    <Badge tone={environment === "sandbox" ? "sandbox" : "info"} sign={false}>
      {environment}
    </Badge>
  );
}

type CreditDialogProps = {
  readonly merchantId: string;
  readonly name: { current: string };
  readonly onClose: () => void;
};

function CreditDialog({ merchantId, name, onClose }: CreditDialogProps) {
  const words = useWords(FEES_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const notify = useNotify();
  const credit = useOrder(OperatorService.method.creditMerchant);
  const [currencyCode, setCurrency] = useState("");
  const [network, setNetwork] = useState("");
  const [typed, setTyped] = useState("");
  const amount = amountOf(typed, COINS) ?? "";
  const [reason, setReason] = useState("");
  const send = async () => {
    const order = { merchantId, currencyCode, network, amount, reason, idempotencyKey: name.current };
    const { isNew, available } = await credit.mutateAsync(order);
    name.current = crypto.randomUUID();
    notify(isNew ? words.credited : shared.doneBefore, formats.coins(available, currencyCode));
  };
  return (
    <OrderDialog
      open
      onClose={onClose}
      title={words.creditTitle}
      about={words.creditAbout}
      confirm={words.confirmCredit}
      onOrder={send}
      onRefused={(error) =>
        isReusedName(error) ? (
          <Button onClick={() => void (name.current = crypto.randomUUID())}>{shared.newOrder}</Button>
        ) : null
      }
      review={() => (
        <div className="rounded-lg border border-line bg-sunken p-4">
          <Facts>
            <Fact name={words.merchant}>
              <Mono>{merchantId}</Mono>
            </Fact>
            <Fact name={words.amount}>
              <strong className="text-lg font-semibold">+{formats.coins(amount, currencyCode)}</strong>
            </Fact>
            {network === "" ? null : <Fact name={words.network}>{network}</Fact>}
            <Fact name={shared.reason}>{reason}</Fact>
          </Facts>
        </div>
      )}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={words.currency}
          required
          maxLength={LONGEST_CURRENCY}
          autoComplete="off"
          value={currencyCode}
          onChange={({ target }) => setCurrency(target.value.trim().toUpperCase())}
        />
        <TextField
          label={words.network}
          hint={words.networkHint}
          maxLength={LONGEST_NETWORK}
          autoComplete="off"
          value={network}
          onChange={({ target }) => setNetwork(target.value.trim())}
        />
      </div>
      <AmountField
        label={words.amount}
        required
        rules={COINS}
        written={(understood) => formats.coins(understood, currencyCode)}
        value={typed}
        onChange={setTyped}
      />
      <ReasonField required value={reason} onChange={setReason} />
    </OrderDialog>
  );
}
