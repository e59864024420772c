import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { TopUpService } from "#gen/saldo/operator/v1/top_up_service_pb.ts";
import type { AccountTopUp } from "#gen/saldo/operator/v1/top_up_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import { orderBy } from "../../../components/order.ts";
import type { Column } from "../../../components/table.tsx";
import { TOP_UP_STATE_MESSAGES } from "../../billing/billing-messages.ts";
import { TopUpBadge } from "../../billing/top-up-states.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { AccountFilter, AccountName, behindAccount, NoSuchAccount } from "../components/account-name.tsx";
import { useNamedAccount } from "../components/account-names.ts";
import { useWhen } from "../components/amounts.ts";
import { Mono } from "../../../components/facts.tsx";
import { ChoiceFilter, SwitchFilter } from "../components/filter-fields.tsx";
import { Filters } from "../components/filters.tsx";
import { Rows } from "../components/rows.tsx";
import { TopUpSheet } from "./top-up-sheet.tsx";
import { TOP_UPS_MESSAGES } from "./top-ups-messages.ts";

const PAGE_SIZE = 50;
const PROVIDERS = ["sandbox", "midtrans", "xendit"] as const;

/** The states by their names in the address. */
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

/** The top-ups of all accounts, including those that need a review. */
export function TopUpsPage() {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/top-ups" });
  const states: Readonly<Record<string, TopUpState>> = STATES;
  const account = useNamedAccount(search.account);
  const columns = useColumns();
  const query = useInfiniteQuery(
    TopUpService.method.listTopUps,
    {
      accountId: account.accountId,
      provider: search.provider ?? "",
      state: states[search.state ?? ""] ?? TopUpState.UNSPECIFIED,
      onlyProblems: search.problems !== undefined,
      pageSize: PAGE_SIZE,
      pageToken: "",
      orderBy: orderBy(search.sort, columns),
    },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: account.isReady,
    },
  );
  const topUps = query.data?.pages.flatMap((page) => page.topUps);
  return (
    <Page title={messages.title} about={messages.about}>
      <TopUpFilters />
      <Card flush>
        <Rows
          {...behindAccount(account, query, topUps)}
          label={messages.list}
          columns={columns}
          sort={{ order: search.sort, onOrder: (sort) => change({ sort }) }}
          keyOf={({ topUp }) => topUp?.id ?? ""}
          onOpen={({ topUp }) => change({ topUp: topUp?.id })}
          empty={
            account.isUnknown ? <NoSuchAccount /> : <Empty title={messages.nothing}>{messages.nothingAbout}</Empty>
          }
        />
      </Card>
      <TopUpSheet topUpId={search.topUp} onClose={() => change({ topUp: undefined })} />
    </Page>
  );
}

function TopUpFilters() {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const states = useMessages(TOP_UP_STATE_MESSAGES);
  const { account, provider, state, problems } = useSearch({ from: "/inside/operator/top-ups" });
  const names = Object.keys(STATES) as (keyof typeof STATES)[];
  return (
    <Filters values={{ account, provider, state, problems }}>
      <AccountFilter />
      <ChoiceFilter name="provider" label={messages.provider} choices={PROVIDERS.map((each) => [each, each])} />
      <ChoiceFilter name="state" label={messages.state} choices={names.map((each) => [each, states[each]])} />
      <SwitchFilter name="problems">{messages.onlyProblems}</SwitchFilter>
    </Filters>
  );
}

function useColumns(): readonly Column<AccountTopUp>[] {
  const messages = useMessages(TOP_UPS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "time",
      head: shared.time,
      isSorted: true,
      cell: ({ topUp, accountId }) => (
        <>
          <span className="text-muted md:whitespace-nowrap">{when(topUp?.createdAt)}</span>
          <span className="block text-xs md:hidden">
            <AccountName id={accountId} />
          </span>
        </>
      ),
    },
    { key: "account", head: shared.account, wide: true, cell: ({ accountId }) => <AccountName id={accountId} /> },
    { key: "provider", head: messages.provider, wide: true, cell: ({ topUp }) => <Mono>{topUp?.provider}</Mono> },
    {
      key: "amount",
      head: messages.amount,
      isSorted: true,
      right: true,
      cell: ({ topUp }) => <span className="whitespace-nowrap">{formats.rupiah(topUp?.amount)}</span>,
    },
    {
      key: "state",
      head: messages.state,
      cell: ({ topUp, problem }) => (
        <span className="flex flex-wrap items-center gap-1.5">
          {topUp === undefined ? null : <TopUpBadge state={topUp.state} />}
          {problem === "" ? null : <Badge tone="bad">{messages.problem}</Badge>}
        </span>
      ),
    },
  ];
}
