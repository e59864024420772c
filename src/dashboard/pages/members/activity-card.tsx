import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { Activity } from "#gen/saldo/identity/v1/member_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { Card } from "../../components/card.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { WrappedName } from "../../components/wrapped-name.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { ACTION_MESSAGES } from "./action-messages.ts";
import { actionOf, useFactTexts } from "./activity-facts.ts";
import { MEMBERS_MESSAGES } from "./members-messages.ts";

const PAGE_SIZE = 20;

/** Every change in the account, newest first. */
export function ActivityCard() {
  const messages = useMessages(MEMBERS_MESSAGES);
  const pages = useInfiniteQuery(
    MembersService.method.listActivity,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const { data, error, refetch, isFetchNextPageError } = pages;
  const lines = data?.pages.flatMap((page) => page.lines);
  const columns: readonly Column<Activity>[] = [
    { key: "when", head: messages.when, wide: true, cell: ({ doneAt }) => <When at={doneAt} /> },
    { key: "what", head: messages.what, cell: (line) => <What line={line} /> },
    { key: "who", head: messages.who, cell: ({ actor }) => <Actor actor={actor} /> },
  ];
  return (
    <Card title={messages.activity} flush>
      <p className="px-4 pb-3 text-muted">{messages.activityAbout}</p>
      {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
      {lines === undefined && error === null ? <SkeletonLines /> : null}
      {lines?.length === 0 ? <Empty title={messages.noActivity} /> : null}
      {lines === undefined || lines.length === 0 ? null : (
        <Table label={messages.activity} columns={columns} rows={lines} keyOf={({ id }) => id} />
      )}
      <LoadMore pages={pages} />
    </Card>
  );
}

function What({ line }: { readonly line: Activity }) {
  const actions: Readonly<Record<string, string>> = useMessages(ACTION_MESSAGES);
  const shown = useFactTexts(line);
  const action = actionOf(line);
  return (
    <>
      <span className="font-medium">{actions[action] ?? action}</span>
      {shown.length === 0 ? null : <span className="block text-muted wrap-anywhere">{shown.join(" · ")}</span>}
      <span className="block text-xs text-muted md:hidden">
        <When at={line.doneAt} />
      </span>
    </>
  );
}

function Actor({ actor }: { readonly actor: string }) {
  const messages = useMessages(MEMBERS_MESSAGES);
  return <WrappedName name={actor === "operator" ? messages.operator : actor} />;
}
