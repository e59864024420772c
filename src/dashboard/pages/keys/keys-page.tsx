import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { useMemo, useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UsageGrouping } from "#gen/saldo/billing/v1/usage_pb.ts";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { useToday } from "../../i18n/today.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { inOrder } from "../../components/order.ts";
import { type Sort, Table } from "../../components/table.tsx";
import { useMay } from "../../layouts/role.ts";
import { filterOf } from "../usage/usage-search.ts";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { useKeyColumns } from "./key-columns.tsx";
import { KEYS_MESSAGES } from "./keys-messages.ts";
import { EditKeyDialog } from "./edit-key-dialog.tsx";
import { useMakers } from "../members/members-seen.ts";
import { OwnBudget } from "./own-budget.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";
import type { KeyTask, SpentByKey } from "./key-task.ts";

const PAGE_SIZE = 100;

/** Every key of the account and its cost; creates, edits and revokes keys. */
export function KeysPage() {
  const messages = useMessages(KEYS_MESSAGES);
  const navigate = useNavigate({ from: "/keys" });
  const { create } = useSearch({ from: "/inside/keys" });
  const [task, setTask] = useState<KeyTask | null>(null);
  const openCreate = () => void navigate({ search: (search) => ({ ...search, create: true }) });
  const close = () => setTask(null);
  const mayMake = useMay("askModels");
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        mayMake ? (
          <Button variant="action" icon={<KeyRound aria-hidden />} onClick={openCreate}>
            {messages.create}
          </Button>
        ) : undefined
      }
    >
      <OwnBudget />
      <Keys onTask={setTask} onCreate={openCreate} />
      {create === undefined || !mayMake ? null : (
        <CreateKeyDialog
          onClose={() => void navigate({ search: ({ sort }) => (sort === undefined ? {} : { sort }) })}
        />
      )}
      {task?.what === "edit" ? <EditKeyDialog apiKey={task.key} onClose={close} /> : null}
      {task?.what === "revoke" ? <RevokeKeyDialog apiKey={task.key} onClose={close} /> : null}
    </Page>
  );
}

function Keys({ onTask, onCreate }: { readonly onTask: (task: KeyTask) => void; readonly onCreate: () => void }) {
  const messages = useMessages(KEYS_MESSAGES);
  const spent = useSpentByKey();
  const mayMake = useMay("askModels");
  const columns = useKeyColumns(spent, onTask).filter(({ key }) => mayMake || key !== "actions");
  const sort = useSort();
  const pages = useInfiniteQuery(
    KeysService.method.listKeys,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  const { data, error, refetch, isFetchNextPageError } = pages;
  const keys = data?.pages.flatMap((page) => page.keys);
  const own = keys?.filter((key) => !key.isPlayground);
  // An owner's page lists the playgrounds of all members.
  const playgrounds = keys?.filter((key) => key.isPlayground && key.revokedAt === undefined) ?? [];
  return (
    <>
      <Card title={messages.list} flush>
        {error === null || isFetchNextPageError ? null : <Failed error={error} retry={() => void refetch()} />}
        {own === undefined && error === null ? <SkeletonLines /> : null}
        {own?.length === 0 ? (
          <Empty
            title={messages.empty}
            action={mayMake ? <Button onClick={onCreate}>{messages.create}</Button> : undefined}
          >
            {messages.emptyAbout}
          </Empty>
        ) : null}
        {own === undefined || own.length === 0 ? null : (
          <Table
            label={messages.list}
            columns={columns}
            rows={pages.hasNextPage ? workingFirst(own) : inOrder(workingFirst(own), columns, sort.order)}
            keyOf={({ id }) => id}
            // Only a list that is here as a whole has another order.
            {...(pages.hasNextPage ? {} : { sort })}
          />
        )}
        <LoadMore pages={pages} />
      </Card>
      {playgrounds.map((key) => (
        <PlaygroundKey key={key.id} apiKey={key} spent={spent} />
      ))}
    </>
  );
}

/** The order of the list, in the address. */
function useSort(): Sort {
  const navigate = useNavigate({ from: "/keys" });
  const { sort } = useSearch({ from: "/inside/keys" });
  return {
    order: sort,
    onOrder: (order) => void navigate({ search: order === undefined ? {} : { sort: order }, resetScroll: false }),
  };
}

function PlaygroundKey({ apiKey, spent }: { readonly apiKey: ApiKey; readonly spent: SpentByKey }) {
  const messages = useMessages(KEYS_MESSAGES);
  const formats = useFormats();
  const maker = useMakers().get(apiKey.personId);
  return (
    <Card
      title={
        maker === undefined ? (
          messages.playground
        ) : (
          <span className="wrap-anywhere">
            {messages.playgroundOf} {maker}
          </span>
        )
      }
      aside={
        <LinkButton to="/usage" search={{ key: apiKey.id, tab: "requests" }}>
          {messages.openPlayground}
        </LinkButton>
      }
    >
      <p className="text-muted">{messages.playgroundAbout}</p>
      <p className="digits mt-2">
        {messages.spent}: <strong className="font-medium">{formats.cost(spent.get(apiKey.id))}</strong>
      </p>
    </Card>
  );
}

function useSpentByKey(): SpentByKey {
  const today = useToday();
  const filter = useMemo(() => filterOf({}, today), [today]);
  const { data } = useQuery(BillingService.method.summarizeUsage, { filter, grouping: UsageGrouping.KEY });
  const charges = data === undefined ? null : new Map(data.rows.map(({ keyId, charge }) => [keyId, charge]));
  // A key without a row was not used: that is known, and is zero.
  return { get: (keyId) => (charges === null ? undefined : (charges.get(keyId) ?? "0")) };
}

function workingFirst(keys: readonly ApiKey[]): ApiKey[] {
  const { working = [], revoked = [] } = Object.groupBy(keys, ({ revokedAt }) =>
    revokedAt === undefined ? "working" : "revoked",
  );
  return [...working, ...revoked];
}
