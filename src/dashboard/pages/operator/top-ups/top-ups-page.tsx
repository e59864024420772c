import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { AccountTopUp } from "#gen/saldo/operator/v1/top_up_pb.ts";
import { useFormats } from "../../../language/format.ts";
import { useWords } from "../../../language/language.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { SelectField, TextField } from "../../../parts/field.tsx";
import { Page } from "../../../parts/page.tsx";
import { Empty } from "../../../parts/states.tsx";
import type { Column } from "../../../parts/table.tsx";
import { TOP_UP_STATE_WORDS } from "../../billing/billing-words.ts";
import { TopUpBadge } from "../../billing/top-up-states.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useChangeAddress } from "../parts/address.ts";
import { useWhen, UUID_PATTERN } from "../parts/amounts.ts";
import { Mono } from "../../../parts/facts.tsx";
import { Filters } from "../parts/filters.tsx";
import { Rows } from "../parts/rows.tsx";
import { TopUpSheet } from "./top-up-sheet.tsx";
import { TOP_UPS_WORDS } from "./top-ups-words.ts";

const PAGE_SIZE = 50;
const PROVIDERS = ["sandbox", "midtrans", "xendit"] as const;

/** The states as the address has them. */
const STATES = {
  created: TopUpState.CREATED,
  pending: TopUpState.PENDING,
  paid: TopUpState.PAID,
  expired: TopUpState.EXPIRED,
  failed: TopUpState.FAILED,
  canceled: TopUpState.CANCELED,
  review: TopUpState.REVIEW,
  refunded: TopUpState.REFUNDED,
  partially_refunded: TopUpState.PARTIALLY_REFUNDED,
  charged_back: TopUpState.CHARGED_BACK,
} as const;

/** Everybody's top-ups, those that need a look among them. */
export function TopUpsPage() {
  const words = useWords(TOP_UPS_WORDS);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/top-ups" });
  const states: Readonly<Record<string, TopUpState>> = STATES;
  const query = useInfiniteQuery(
    OperatorService.method.listTopUps,
    {
      accountId: search.account ?? "",
      provider: search.provider ?? "",
      state: states[search.state ?? ""] ?? TopUpState.UNSPECIFIED,
      onlyProblems: search.problems !== undefined,
      pageSize: PAGE_SIZE,
      pageToken: "",
    },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <Page title={words.title} about={words.about}>
      <TopUpFilters />
      <Card flush>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.topUps)}
          label={words.list}
          columns={useColumns()}
          keyOf={({ topUp }) => topUp?.id ?? ""}
          onOpen={({ topUp }) => change({ topUp: topUp?.id })}
          empty={<Empty title={words.nothing}>{words.nothingAbout}</Empty>}
        />
      </Card>
      <TopUpSheet topUpId={search.topUp} onClose={() => change({ topUp: undefined })} />
    </Page>
  );
}

function TopUpFilters() {
  const words = useWords(TOP_UPS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const states = useWords(TOP_UP_STATE_WORDS);
  const { account, provider, state, problems } = useSearch({ from: "/inside/operator/top-ups" });
  const names = Object.keys(STATES) as (keyof typeof STATES)[];
  return (
    <Filters values={{ account, provider, state, problems }}>
      <TextField name="account" label={words.account} pattern={UUID_PATTERN} className="w-full sm:w-80" />
      <SelectField name="provider" label={words.provider}>
        <option value="">{shared.all}</option>
        {PROVIDERS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField name="state" label={words.state}>
        <option value="">{shared.all}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {states[name]}
          </option>
        ))}
      </SelectField>
      <label className="flex min-h-9 items-center gap-2">
        <input type="checkbox" name="problems" value="yes" className="size-4 accent-[var(--action)]" />
        {words.onlyProblems}
      </label>
    </Filters>
  );
}

function useColumns(): readonly Column<AccountTopUp>[] {
  const words = useWords(TOP_UPS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "time",
      head: shared.time,
      cell: ({ topUp }) => <span className="text-muted md:whitespace-nowrap">{when(topUp?.createdAt)}</span>,
    },
    { key: "account", head: shared.account, wide: true, cell: ({ accountId }) => <Mono>{accountId}</Mono> },
    { key: "provider", head: words.provider, wide: true, cell: ({ topUp }) => <Mono>{topUp?.provider}</Mono> },
    {
      key: "amount",
      head: words.amount,
      right: true,
      cell: ({ topUp }) => <span className="whitespace-nowrap">{formats.rupiah(topUp?.amount)}</span>,
    },
    {
      key: "state",
      head: words.state,
      cell: ({ topUp, problem }) => (
        <span className="flex flex-wrap items-center gap-1.5">
          {topUp === undefined ? null : <TopUpBadge state={topUp.state} />}
          {problem === "" ? null : <Badge tone="bad">{words.problem}</Badge>}
        </span>
      ),
    },
  ];
}
