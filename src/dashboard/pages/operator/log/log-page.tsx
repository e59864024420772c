import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import type { OperatorAction } from "#gen/saldo/operator/v1/operator_action_pb.ts";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { AccountName, AccountWithId } from "../components/account-name.tsx";
import { useWhen } from "../components/amounts.ts";
import { DayFields } from "../components/day-fields.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { momentsOf } from "../components/moments.ts";
import { RowSheet } from "../components/row-sheet.tsx";
import { Rows } from "../components/rows.tsx";
import { LOG_MESSAGES } from "./log-messages.ts";

const PAGE_SIZE = 50;
/** An id of an account, as `UUID_PATTERN` has it for fields. */
const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** The actions of operators, the newest first. */
export function LogPage() {
  const messages = useMessages(LOG_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/log" });
  const filter = {
    operator: search.operator ?? "",
    action: search.action ?? "",
    subject: search.subject ?? "",
    ...momentsOf(search),
  };
  const query = useInfiniteQuery(
    SystemService.method.listOperatorActions,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const actions = query.data?.pages.flatMap((page) => page.actions);
  const { operator, action, subject, from, to } = search;
  return (
    <Page title={messages.title} about={messages.about}>
      <Filters values={{ operator, action, subject, from, to }}>
        <TextField name="operator" label={messages.operator} maxLength={320} autoCapitalize="off" />
        <TextField name="action" label={messages.action} maxLength={100} autoCapitalize="off" />
        <TextField name="subject" label={messages.subject} maxLength={200} autoCapitalize="off" />
        <DayFields />
      </Filters>
      <Card flush>
        <Rows
          query={query}
          rows={actions}
          label={messages.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => change({ open: id })}
          empty={<Empty title={messages.nothing}>{messages.nothingAbout}</Empty>}
        />
      </Card>
      <RowSheet
        query={query}
        open={search.open !== undefined}
        row={actions?.find(({ id }) => id === search.open)}
        title={messages.entry}
        missing={{ title: messages.missing, about: messages.missingAbout }}
        onClose={() => change({ open: undefined })}
      >
        {(opened) => <Entry action={opened} />}
      </RowSheet>
    </Page>
  );
}

function useColumns(): readonly Column<OperatorAction>[] {
  const messages = useMessages(LOG_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const when = useWhen();
  return [
    {
      key: "time",
      head: shared.time,
      cell: ({ doneAt }) => <span className="text-muted md:whitespace-nowrap">{when(doneAt)}</span>,
    },
    {
      key: "action",
      head: messages.action,
      cell: ({ action, operator }) => (
        <>
          <Mono>{action}</Mono>
          <span className="block text-xs break-all text-muted md:hidden">{operator}</span>
        </>
      ),
    },
    {
      key: "operator",
      head: messages.operator,
      wide: true,
      cell: ({ operator }) => <span className="break-words">{operator}</span>,
    },
    { key: "subject", head: messages.subject, wide: true, cell: (action) => <Subject action={action} /> },
    {
      key: "reason",
      head: messages.reason,
      wide: true,
      cell: ({ reason }) => <span className="break-words">{reason}</span>,
    },
  ];
}

function Entry({ action }: { readonly action: OperatorAction }) {
  const messages = useMessages(LOG_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const when = useWhen();
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={shared.time}>{when(action.doneAt)}</Fact>
        <Fact name={messages.operator}>{action.operator}</Fact>
        <Fact name={messages.action}>
          <Mono>{action.action}</Mono>
        </Fact>
        <Fact name={messages.subject}>
          {isOnAccount(action) ? <AccountWithId id={action.subject} /> : <Subject action={action} />}
        </Fact>
        <Fact name={messages.reason}>{action.reason === "" ? UNKNOWN : action.reason}</Fact>
        <Fact name={messages.id}>
          <Mono>{action.id}</Mono>
        </Fact>
      </Facts>
      <CodeBlock code={readable(action.facts)} what={messages.facts} />
      {isOnAccount(action) ? (
        <LinkButton to="/operator/accounts/$accountId" params={{ accountId: action.subject }}>
          {messages.openAccount}
        </LinkButton>
      ) : null}
    </div>
  );
}

/** Whether the subject of an action is an account. */
function isOnAccount({ action, subject }: OperatorAction): boolean {
  return action.startsWith("account ") && UUID.test(subject);
}

function Subject({ action }: { readonly action: OperatorAction }) {
  if (action.subject === "") return UNKNOWN;
  return isOnAccount(action) ? <AccountName id={action.subject} /> : <Mono>{action.subject}</Mono>;
}

/** JSON over several lines; other text is shown unchanged. */
function readable(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
