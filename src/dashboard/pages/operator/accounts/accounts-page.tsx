import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { AccountSummary } from "#gen/saldo/operator/v1/account_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { useWhen } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { Rows } from "../components/rows.tsx";
import { ACCOUNTS_WORDS } from "./accounts-words.ts";

const PAGE_SIZE = 50;
const LONGEST_QUERY = 320;

/** Finds accounts. A row opens one. */
export function AccountsPage() {
  const words = useWords(ACCOUNTS_WORDS);
  const navigate = useNavigate();
  const { q } = useSearch({ from: "/inside/operator/accounts" });
  const query = useInfiniteQuery(
    OperatorService.method.listAccounts,
    { query: q ?? "", pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <Page title={words.title} about={words.about}>
      <Filters values={{ q }}>
        <TextField
          type="search"
          name="q"
          label={words.query}
          maxLength={LONGEST_QUERY}
          className="w-full max-w-96 sm:w-96"
        />
      </Filters>
      <Card flush>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.accounts)}
          label={words.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/operator/accounts/$accountId", params: { accountId: id } })}
          empty={<Empty title={words.nobody}>{words.nobodyAbout}</Empty>}
        />
      </Card>
    </Page>
  );
}

function useColumns(): readonly Column<AccountSummary>[] {
  const words = useWords(ACCOUNTS_WORDS);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "email",
      head: words.email,
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
      head: words.state,
      cell: ({ frozenAt }) =>
        frozenAt === undefined ? <Badge tone="good">{words.active}</Badge> : <Badge tone="bad">{words.frozen}</Badge>,
    },
    {
      key: "available",
      head: words.available,
      right: true,
      cell: ({ balance }) => <span className="whitespace-nowrap">{formats.rupiah(balance?.available)}</span>,
    },
    { key: "held", head: words.held, right: true, wide: true, cell: ({ balance }) => formats.rupiah(balance?.held) },
    { key: "keys", head: words.keys, right: true, wide: true, cell: ({ workingKeys }) => formats.count(workingKeys) },
    {
      key: "opened",
      head: words.opened,
      wide: true,
      cell: ({ createdAt }) => <span className="whitespace-nowrap text-muted">{when(createdAt)}</span>,
    },
  ];
}
