import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import type { OperatorAction } from "#gen/saldo/operator/v1/operation_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { TextField } from "../../../components/field.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useChangeAddress } from "../components/address.ts";
import { useWhen } from "../components/amounts.ts";
import { DayFields } from "../components/day-fields.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { Filters } from "../components/filters.tsx";
import { momentsOf } from "../components/moments.ts";
import { RowSheet } from "../components/row-sheet.tsx";
import { Rows } from "../components/rows.tsx";
import { LOG_WORDS } from "./log-words.ts";

const PAGE_SIZE = 50;

/** What operators did, the newest first. */
export function LogPage() {
  const words = useWords(LOG_WORDS);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/log" });
  const filter = {
    operator: search.operator ?? "",
    action: search.action ?? "",
    subject: search.subject ?? "",
    ...momentsOf(search),
  };
  const query = useInfiniteQuery(
    OperatorService.method.listOperatorActions,
    { filter, pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const actions = query.data?.pages.flatMap((page) => page.actions);
  const { operator, action, subject, from, to } = search;
  return (
    <Page title={words.title} about={words.about}>
      <Filters values={{ operator, action, subject, from, to }}>
        <TextField name="operator" label={words.operator} maxLength={320} autoCapitalize="off" />
        <TextField name="action" label={words.action} maxLength={100} autoCapitalize="off" />
        <TextField name="subject" label={words.subject} maxLength={200} autoCapitalize="off" />
        <DayFields />
      </Filters>
      <Card flush>
        <Rows
          query={query}
          rows={actions}
          label={words.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => change({ open: id })}
          empty={<Empty title={words.nothing}>{words.nothingAbout}</Empty>}
        />
      </Card>
      <RowSheet
        query={query}
        open={search.open !== undefined}
        row={actions?.find(({ id }) => id === search.open)}
        title={words.entry}
        missing={{ title: words.missing, about: words.missingAbout }}
        onClose={() => change({ open: undefined })}
      >
        {(opened) => <Entry action={opened} />}
      </RowSheet>
    </Page>
  );
}

function useColumns(): readonly Column<OperatorAction>[] {
  const words = useWords(LOG_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const when = useWhen();
  return [
    {
      key: "time",
      head: shared.time,
      cell: ({ doneAt }) => <span className="text-muted md:whitespace-nowrap">{when(doneAt)}</span>,
    },
    {
      key: "action",
      head: words.action,
      cell: ({ action, operator }) => (
        <>
          <Mono>{action}</Mono>
          <span className="block text-xs break-all text-muted md:hidden">{operator}</span>
        </>
      ),
    },
    {
      key: "operator",
      head: words.operator,
      wide: true,
      cell: ({ operator }) => <span className="break-words">{operator}</span>,
    },
    { key: "subject", head: words.subject, wide: true, cell: ({ subject }) => <Mono>{subject}</Mono> },
    {
      key: "reason",
      head: words.reason,
      wide: true,
      cell: ({ reason }) => <span className="break-words">{reason}</span>,
    },
  ];
}

function Entry({ action }: { readonly action: OperatorAction }) {
  const words = useWords(LOG_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const when = useWhen();
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={shared.time}>{when(action.doneAt)}</Fact>
        <Fact name={words.operator}>{action.operator}</Fact>
        <Fact name={words.action}>
          <Mono>{action.action}</Mono>
        </Fact>
        <Fact name={words.subject}>{action.subject === "" ? UNKNOWN : <Mono>{action.subject}</Mono>}</Fact>
        <Fact name={words.reason}>{action.reason === "" ? UNKNOWN : action.reason}</Fact>
        <Fact name={words.id}>
          <Mono>{action.id}</Mono>
        </Fact>
      </Facts>
      <CodeBlock code={readable(action.facts)} what={words.facts} />
      {action.action.startsWith("account ") && action.subject !== "" ? (
        <LinkButton to="/operator/accounts/$accountId" params={{ accountId: action.subject }}>
          {words.openAccount}
        </LinkButton>
      ) : null}
    </div>
  );
}

/** JSON over several lines; what is none is shown as it is. */
function readable(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
