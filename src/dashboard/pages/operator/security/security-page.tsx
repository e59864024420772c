import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { type SecurityEvent, SecurityOutcome } from "#gen/saldo/accounts/v1/person_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Mono, ShortId } from "../../../components/facts.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { When } from "../../../components/when.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { AccountFilter, AccountName, behindAccount, NoSuchAccount } from "../components/account-name.tsx";
import { useNamedAccount } from "../components/account-names.ts";
import { ChoiceFilter, SwitchFilter } from "../components/filter-fields.tsx";
import { Filters } from "../components/filters.tsx";
import { RowSheet } from "../components/row-sheet.tsx";
import { Rows } from "../components/rows.tsx";
import { EVENT_KIND_MESSAGES } from "./event-kind-messages.ts";
import { EventDetails, EventName, Subject } from "./event-details.tsx";
import { filterOf, OUTCOMES } from "./security-search.ts";
import { SECURITY_MESSAGES } from "./security-messages.ts";

const PAGE_SIZE = 50;
const LONGEST_EMAIL = 254;

/** Sign-ins, attempts and refusals, the newest first. */
export function SecurityPage() {
  const messages = useMessages(SECURITY_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/security" });
  const account = useNamedAccount(search.account);
  const query = useInfiniteQuery(
    AccountsService.method.listSecurityEvents,
    { ...filterOf({ ...search, account: account.accountId }), pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      enabled: account.isReady,
    },
  );
  const events = query.data?.pages.flatMap((page) => page.events);
  return (
    <Page title={messages.title} about={messages.about}>
      <SecurityFilters />
      <Card flush>
        <Rows
          {...behindAccount(account, query, events)}
          label={messages.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => change({ event: id })}
          empty={
            account.isUnknown ? <NoSuchAccount /> : <Empty title={messages.nothing}>{messages.nothingAbout}</Empty>
          }
        />
      </Card>
      <RowSheet
        query={query}
        open={search.event !== undefined}
        row={events?.find(({ id }) => id === search.event)}
        title={messages.event}
        missing={{ title: messages.missing, about: messages.missingAbout }}
        onClose={() => change({ event: undefined })}
      >
        {(event) => <EventDetails event={event} />}
      </RowSheet>
    </Page>
  );
}

function SecurityFilters() {
  const messages = useMessages(SECURITY_MESSAGES);
  const kinds = useMessages(EVENT_KIND_MESSAGES);
  const { person, account, kind, outcome, reads } = useSearch({ from: "/inside/operator/security" });
  return (
    <Filters values={{ person, account, kind, outcome, reads }}>
      <TextField
        name="person"
        label={messages.person}
        maxLength={LONGEST_EMAIL}
        autoCapitalize="off"
        className="w-full sm:w-64"
      />
      <AccountFilter className="w-full sm:w-64" />
      <ChoiceFilter name="kind" label={messages.kind} choices={Object.entries(kinds)} className="w-full sm:w-48" />
      <ChoiceFilter name="outcome" label={messages.outcome} choices={OUTCOMES.map((each) => [each, messages[each]])} />
      <SwitchFilter name="reads">{messages.reads}</SwitchFilter>
    </Filters>
  );
}

function useColumns(): readonly Column<SecurityEvent>[] {
  const messages = useMessages(SECURITY_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  return [
    {
      key: "time",
      head: shared.time,
      cell: ({ occurredAt }) => (
        <span className="text-muted">
          <When at={occurredAt} />
        </span>
      ),
    },
    {
      key: "event",
      head: messages.kind,
      cell: (event) => (
        <div className="md:min-w-40">
          <EventName event={event} />
          <span className="mt-1 block md:hidden">
            <OutcomeBadge outcome={event.outcome} />
          </span>
        </div>
      ),
    },
    { key: "outcome", head: messages.outcome, wide: true, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
    { key: "who", head: messages.who, wide: true, cell: (event) => <Who event={event} /> },
    {
      key: "network",
      head: messages.network,
      wide: true,
      cell: ({ network }) => (network === "" ? UNKNOWN : <Mono>{network}</Mono>),
    },
    { key: "subject", head: messages.subject, wide: true, cell: ({ subject }) => <Subject subject={subject} /> },
  ];
}

/** The outcome of the event. */
function OutcomeBadge({ outcome }: { readonly outcome: SecurityOutcome }) {
  const messages = useMessages(SECURITY_MESSAGES);
  if (outcome === SecurityOutcome.SUCCEEDED) return <Badge tone="good">{messages.succeeded}</Badge>;
  return <Badge tone="bad">{messages.refused}</Badge>;
}

/** The account where the person has one; otherwise the little that is recorded. The log holds no e-mail address; accounts have one. */
function Who({ event: { accountId, personId, emailHash } }: { readonly event: SecurityEvent }) {
  const messages = useMessages(SECURITY_MESSAGES);
  if (accountId !== "") return <AccountName id={accountId} />;
  if (personId !== "") return <ShortId id={personId} />;
  if (emailHash === "") return <span className="text-muted">{messages.unknownPerson}</span>;
  return (
    <span className="text-muted">
      {messages.emailHash} <ShortId id={emailHash} />
    </span>
  );
}
