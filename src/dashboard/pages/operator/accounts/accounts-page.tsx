import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import { orderBy } from "../../../components/order.ts";
import type { Column } from "../../../components/table.tsx";
import { useChangeAddress } from "../components/address.ts";
import { useWhen } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { Rows } from "../components/rows.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

const PAGE_SIZE = 50;
const LONGEST_QUERY = 320;

/** Finds accounts. A row opens one. */
export function AccountsPage() {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const navigate = useNavigate();
  const change = useChangeAddress();
  const { q, sort } = useSearch({ from: "/inside/operator/accounts" });
  const columns = useColumns();
  const query = useInfiniteQuery(
    AccountService.method.listAccounts,
    { query: q ?? "", pageSize: PAGE_SIZE, pageToken: "", orderBy: orderBy(sort, columns) },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <Page title={messages.title} about={messages.about}>
      <Filters values={{ q }}>
        <TextField
          type="search"
          name="q"
          label={messages.query}
          maxLength={LONGEST_QUERY}
          className="w-full max-w-96 sm:w-96"
        />
      </Filters>
      <Card flush>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.accounts)}
          label={messages.list}
          columns={columns}
          sort={{ order: sort, onOrder: (order) => change({ sort: order }) }}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/operator/accounts/$accountId", params: { accountId: id } })}
          empty={<Empty title={messages.noMatch}>{messages.noMatchAbout}</Empty>}
        />
      </Card>
    </Page>
  );
}

function useColumns(): readonly Column<AccountSummary>[] {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "email",
      head: messages.email,
      isSorted: true,
      cell: ({ email, id }) => (
        <>
          <span className="font-medium break-all">{email}</span>
          <span className="block text-xs text-muted max-md:hidden">
            <Mono>{id}</Mono>
          </span>
        </>
      ),
    },
    {
      key: "state",
      head: messages.state,
      cell: ({ frozenAt }) =>
        frozenAt === undefined ? (
          <Badge tone="good">{messages.active}</Badge>
        ) : (
          <Badge tone="bad">{messages.frozen}</Badge>
        ),
    },
    {
      key: "available",
      head: messages.available,
      right: true,
      cell: ({ balance }) => <span className="whitespace-nowrap">{formats.rupiah(balance?.available)}</span>,
    },
    { key: "held", head: messages.held, right: true, wide: true, cell: ({ balance }) => formats.rupiah(balance?.held) },
    {
      key: "keys",
      head: messages.keys,
      right: true,
      wide: true,
      cell: ({ workingKeys }) => formats.count(workingKeys),
    },
    {
      key: "opened",
      head: messages.opened,
      isSorted: true,
      wide: true,
      cell: ({ createdAt }) => <span className="whitespace-nowrap text-muted">{when(createdAt)}</span>,
    },
  ];
}
