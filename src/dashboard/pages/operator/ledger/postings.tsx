// Postings that fit a filter. A row opens all postings of its event.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import type { Posting } from "#gen/saldo/operator/v1/ledger_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useChangeAddress } from "../components/address.ts";
import { useAssetAmount, useWhen, UUID_PATTERN } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { DayFields } from "../components/day-fields.tsx";
import { later } from "../components/later.tsx";
import { momentsOf } from "../components/moments.ts";
import { Rows } from "../components/rows.tsx";
import { LEDGER_WORDS } from "./ledger-words.ts";
import { ClassWord, ReasonName } from "./named.tsx";

const PAGE_SIZE = 50;

const PostingGroup = later(() => import("./posting-group.tsx"), "PostingGroup");

/** The list with its filters and the sheet of a group. */
export function Postings() {
  const words = useWords(LEDGER_WORDS);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/ledger" });
  const filter = {
    accountId: search.account ?? "",
    reason: search.reason ?? "",
    reference: search.reference ?? "",
    groupId: search.group ?? "",
    asset: search.asset ?? "",
    ...momentsOf(search),
  };
  const query = useInfiniteQuery(
    OperatorService.method.listPostings,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <>
      <PostingFilters search={search} />
      <p className="text-xs text-muted">{words.withoutUsage}</p>
      <Card flush>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.postings)}
          label={words.postings}
          columns={usePostingColumns()}
          keyOf={({ id }) => id}
          onOpen={({ groupId }) => change({ open: groupId })}
          empty={<Empty title={words.nothing}>{words.nothingAbout}</Empty>}
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
  const words = useWords(LEDGER_WORDS);
  const { account, reason, reference, group, asset, from, to } = search;
  return (
    <Filters values={{ account, reason, reference, group, asset, from, to }}>
      <TextField name="account" label={words.account} pattern={UUID_PATTERN} className="w-full sm:w-80" />
      <TextField name="reason" label={words.reason} maxLength={64} autoCapitalize="off" />
      <TextField name="reference" label={words.reference} maxLength={200} autoCapitalize="off" />
      <TextField name="group" label={words.group} pattern={UUID_PATTERN} className="w-full sm:w-80" />
      <TextField name="asset" label={words.asset} maxLength={32} placeholder="IDR/6" className="w-28" />
      <DayFields />
    </Filters>
  );
}

function usePostingColumns(): readonly Column<Posting>[] {
  const words = useWords(LEDGER_WORDS);
  const shared = useWords(OPERATOR_WORDS);
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
    { key: "reason", head: words.reason, wide: true, cell: ({ reason }) => <ReasonName name={reason} /> },
    {
      key: "movement",
      head: words.movement,
      wide: true,
      cell: ({ debit, credit }) => (
        <>
          <ClassWord name={debit?.class ?? ""} /> → <ClassWord name={credit?.class ?? ""} />
        </>
      ),
    },
    {
      key: "amount",
      head: words.amount,
      right: true,
      cell: ({ amount, asset }) => <strong className="font-medium whitespace-nowrap">{amountOf(amount, asset)}</strong>,
    },
    {
      key: "reference",
      head: words.reference,
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
