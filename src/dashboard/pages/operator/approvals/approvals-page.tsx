import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { ApprovalService } from "#gen/saldo/operator/v1/approval_service_pb.ts";
import { ApprovalState, type Approval } from "#gen/saldo/operator/v1/approval_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { Empty } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { useChangeAddress } from "../components/address.ts";
import { useAssetAmount, useWhen } from "../components/amounts.ts";
import { RowSheet } from "../components/row-sheet.tsx";
import { Rows } from "../components/rows.tsx";
import { ApprovalSheet } from "./approval-sheet.tsx";
import { APPROVALS_MESSAGES, nameOfCommand } from "./approvals-messages.ts";

const PAGE_SIZE = 50;
const ASK_AGAIN_MS = 20_000;

const STATES = {
  pending: ApprovalState.PENDING,
  approved: ApprovalState.APPROVED,
  refused: ApprovalState.REFUSED,
  expired: ApprovalState.EXPIRED,
} as const;
type StateName = keyof typeof STATES;
const NAMES = Object.keys(STATES) as StateName[];

/** Commands that wait for a second operator, and those that were decided. */
export function ApprovalsPage() {
  const messages = useMessages(APPROVALS_MESSAGES);
  const change = useChangeAddress();
  const search = useSearch({ from: "/inside/operator/approvals" });
  const chosen = NAMES.find((name) => name === search.state) ?? "pending";
  const query = useInfiniteQuery(
    ApprovalService.method.listApprovals,
    { state: STATES[chosen], pageSize: PAGE_SIZE, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: ASK_AGAIN_MS,
    },
  );
  const approvals = query.data?.pages.flatMap((page) => page.approvals);
  return (
    <Page title={messages.title} about={messages.about}>
      <Segments
        label={messages.state}
        value={chosen}
        choices={NAMES.map((value) => ({ value, label: messages[value] }))}
        onChange={(state) => change({ state, approval: undefined })}
      />
      <Card flush>
        <Rows
          query={query}
          rows={approvals}
          label={messages.list}
          columns={useColumns()}
          keyOf={({ id }) => id}
          onOpen={({ id }) => change({ approval: id })}
          empty={<Empty title={messages.nothing}>{messages.nothingAbout}</Empty>}
        />
      </Card>
      <RowSheet
        query={query}
        open={search.approval !== undefined}
        row={approvals?.find(({ id }) => id === search.approval)}
        title={messages.approval}
        missing={{ title: messages.missing, about: messages.missingAbout }}
        onClose={() => change({ approval: undefined })}
      >
        {(opened) => <ApprovalSheet approval={opened} onDecided={() => change({ approval: undefined })} />}
      </RowSheet>
    </Page>
  );
}

function useColumns(): readonly Column<Approval>[] {
  const messages = useMessages(APPROVALS_MESSAGES);
  const when = useWhen();
  const amountOf = useAssetAmount();
  return [
    {
      key: "command",
      head: messages.command,
      cell: ({ command, requestedBy, state }) => (
        <>
          <span className="flex flex-wrap items-center gap-1.5">
            {messages[nameOfCommand(command)]}
            <StateBadge state={state} />
          </span>
          <span className="block text-xs break-all text-muted md:hidden">{requestedBy}</span>
        </>
      ),
    },
    {
      key: "amount",
      head: messages.amount,
      cell: ({ amount, currencyCode }) => (amount === "" ? UNKNOWN : amountOf(amount, currencyCode)),
    },
    {
      key: "by",
      head: messages.requestedBy,
      wide: true,
      cell: ({ requestedBy }) => <span className="break-all">{requestedBy}</span>,
    },
    { key: "at", head: messages.requestedAt, wide: true, cell: ({ requestedAt }) => when(requestedAt) },
    { key: "until", head: messages.expiresAt, wide: true, cell: ({ expiresAt }) => when(expiresAt) },
  ];
}

/** The state of an approval. */
export function StateBadge({ state }: { readonly state: ApprovalState }) {
  const messages = useMessages(APPROVALS_MESSAGES);
  const name = NAMES.find((each) => STATES[each] === state);
  if (name === undefined) return null;
  const tones = { pending: "warn", approved: "good", refused: "bad", expired: undefined } as const;
  const tone = tones[name];
  return <Badge {...(tone === undefined ? {} : { tone })}>{messages[name]}</Badge>;
}
