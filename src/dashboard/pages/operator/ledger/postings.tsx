// Postings that match a filter. A row opens all postings of its event.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import type { Posting } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { AccountFilter, behindAccount, NoSuchAccount } from "../components/account-name.tsx";
import { useNamedAccount } from "../components/account-names.ts";
import { useAssetAmount, useWhen, UUID_PATTERN } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { DayFields } from "../components/day-fields.tsx";
import { later } from "../components/later.tsx";
import { momentsOf } from "../components/moments.ts";
import { Rows } from "../components/rows.tsx";
import { LEDGER_MESSAGES } from "./ledger-messages.ts";
import { ClassWord, ReasonName } from "./named.tsx";

const PAGE_SIZE = 50;

const PostingGroup = later(() => import("./posting-group.tsx"), "PostingGroup");

/** The list with its filters and the sheet of a group. */
export function Postings() {
  const messages = useMessages(LEDGER_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/ledger" });
  const account = useNamedAccount(search.account);
  const filter = {
    accountId: account.accountId,
    reason: search.reason ?? "",
    reference: search.reference ?? "",
    groupId: search.group ?? "",
    asset: search.asset ?? "",
    ...momentsOf(search),
  };
  const query = useInfiniteQuery(
    LedgerService.method.listPostings,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: account.isReady,
    },
  );
  return (
    <>
      <PostingFilters search={search} />
      <p className="text-xs text-muted">{messages.withoutUsage}</p>
      <Card flush>
        <Rows
          {...behindAccount(
            account,
            query,
            query.data?.pages.flatMap((page) => page.postings),
          )}
          label={messages.postings}
          columns={usePostingColumns()}
          keyOf={({ id }) => id}
          onOpen={({ groupId }) => change({ open: groupId })}
          empty={
            account.isUnknown ? <NoSuchAccount /> : <Empty title={messages.nothing}>{messages.nothingAbout}</Empty>
          }
        />
      </Card>
      <PostingGroup
        given={search.open === undefined ? null : { groupId: search.open, onClose: () => change({ open: undefined }) }}
      />
    </>
  );
}

type LedgerSearch = Readonly<
  Partial<Record<"account" | "reason" | "reference" | "group" | "asset" | "from" | "to", string>>
>;

function PostingFilters({ search }: { readonly search: LedgerSearch }) {
  const messages = useMessages(LEDGER_MESSAGES);
  const { account, reason, reference, group, asset, from, to } = search;
  return (
    <Filters values={{ account, reason, reference, group, asset, from, to }}>
      <AccountFilter />
      <TextField name="reason" label={messages.reason} maxLength={64} autoCapitalize="off" />
      <TextField name="reference" label={messages.reference} maxLength={200} autoCapitalize="off" />
      <TextField name="group" label={messages.group} pattern={UUID_PATTERN} className="w-full sm:w-80" />
      <TextField name="asset" label={messages.asset} maxLength={32} placeholder="IDR/6" className="w-28" />
      <DayFields />
    </Filters>
  );
}

function usePostingColumns(): readonly Column<Posting>[] {
  const messages = useMessages(LEDGER_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const amountOf = useAssetAmount();
  const when = useWhen();
  return [
    {
      key: "time",
      head: shared.time,
      cell: ({ postedAt, reason }) => (
        <>
          <span className="text-muted md:whitespace-nowrap">{when(postedAt)}</span>
          <span className="block text-xs md:hidden">
            <ReasonName name={reason} />
          </span>
        </>
      ),
    },
    { key: "reason", head: messages.reason, wide: true, cell: ({ reason }) => <ReasonName name={reason} /> },
    {
      key: "movement",
      head: messages.movement,
      wide: true,
      cell: ({ debit, credit }) => (
        <>
          <ClassWord name={debit?.class ?? ""} /> → <ClassWord name={credit?.class ?? ""} />
        </>
      ),
    },
    {
      key: "amount",
      head: messages.amount,
      right: true,
      cell: ({ amount, asset }) => <strong className="font-medium whitespace-nowrap">{amountOf(amount, asset)}</strong>,
    },
    {
      key: "reference",
      head: messages.reference,
      wide: true,
      cell: ({ reference, note }) => (
        <>
          <Mono>{reference}</Mono>
          {note === "" ? null : <span className="block text-xs break-words text-muted">{note}</span>}
        </>
      ),
    },
  ];
}
