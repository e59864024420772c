// The published versions: a list, and each version with its changes and its text.

import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { CatalogVersion, GetCatalogResponse } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { isNotFound } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { CodeBlock } from "../../../components/copy.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { useChangeAddress } from "../components/address.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts } from "../../../components/facts.tsx";
import { CommandDialog } from "../components/command.tsx";
import { Rows } from "../components/rows.tsx";
import { CatalogDifference } from "./catalog-difference.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";
import { type Draft, keepDraft, readDraft } from "./draft.ts";

const PAGE_SIZE = 50;

/** Every version, the newest first. A row opens it. */
export function CatalogHistory({ live }: { readonly live: GetCatalogResponse | undefined }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const change = useChangeAddress();
  const { version } = useSearch({ from: "/inside/operator/catalog" });
  const opened = Number(version);
  const notify = useNotify();
  const [replacement, setReplacement] = useState<Draft | null>(null);
  const makeDraft = (draft: Draft) => {
    keepDraft(draft);
    change({ view: "draft", version: undefined });
    notify(messages.becameDraft, messages.asDraftAbout);
  };
  const query = useInfiniteQuery(
    CatalogService.method.listCatalogVersions,
    { pageSize: PAGE_SIZE, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined },
  );
  return (
    <>
      <Card flush title={messages.versions}>
        <Rows
          query={query}
          rows={query.data?.pages.flatMap((page) => page.versions)}
          label={messages.versions}
          columns={useVersionColumns(live?.version)}
          keyOf={({ number }) => String(number)}
          onOpen={({ number }) => change({ version: String(number) })}
          empty={<Empty title={messages.noVersions}>{messages.noVersionsAbout}</Empty>}
        />
      </Card>
      <Dialog
        side
        open={Number.isInteger(opened) && opened >= 1}
        onClose={() => change({ version: undefined })}
        title={`${messages.version} ${version ?? ""}`}
      >
        <Version
          number={opened}
          live={live}
          onDraft={(draft) => (readDraft() === null ? makeDraft(draft) : setReplacement(draft))}
        />
      </Dialog>
      {replacement === null ? null : (
        <CommandDialog
          open
          onClose={() => setReplacement(null)}
          title={messages.replaceTitle}
          about={messages.replaceAbout}
          confirm={messages.replace}
          isDanger
          onCommand={() => {
            makeDraft(replacement);
            return Promise.resolve();
          }}
        />
      )}
    </>
  );
}

function useVersionColumns(live: number | undefined): readonly Column<CatalogVersion>[] {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "version",
      head: messages.version,
      cell: ({ number }) => (
        <span className="flex flex-wrap items-center gap-2 font-medium">
          {formats.count(number)}
          {number === live ? <Badge tone="good">{messages.live}</Badge> : null}
        </span>
      ),
    },
    {
      key: "when",
      head: messages.when,
      cell: ({ publishedAt, operator }) => (
        <>
          <span className="text-muted md:whitespace-nowrap">{when(publishedAt)}</span>
          <span className="block break-all md:hidden">{operator}</span>
        </>
      ),
    },
    {
      key: "operator",
      head: messages.operator,
      wide: true,
      cell: ({ operator }) => <span className="break-words">{operator}</span>,
    },
    {
      key: "reason",
      head: messages.reason,
      wide: true,
      cell: ({ reason }) => <span className="break-words">{reason}</span>,
    },
    { key: "added", head: messages.added, right: true, wide: true, cell: ({ added }) => formats.count(added) },
    { key: "changed", head: messages.changed, right: true, wide: true, cell: ({ changed }) => formats.count(changed) },
    { key: "retired", head: messages.retired, right: true, wide: true, cell: ({ retired }) => formats.count(retired) },
  ];
}

type VersionProps = {
  readonly number: number;
  readonly live: GetCatalogResponse | undefined;
  readonly onDraft: (draft: Draft) => void;
};

function Version({ number, live, onDraft }: VersionProps) {
  const messages = useMessages(CATALOG_MESSAGES);
  const when = useWhen();
  const { data, error, refetch } = useQuery(CatalogService.method.getCatalogVersion, { number });
  if (error !== null) {
    if (isNotFound(error)) return <Empty title={messages.noVersionFound} />;
    return <Failed error={error} retry={() => void refetch()} />;
  }
  if (data === undefined) return <SkeletonLines lines={8} />;
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={messages.when}>{when(data.version?.publishedAt)}</Fact>
        <Fact name={messages.operator}>{data.version?.operator}</Fact>
        <Fact name={messages.reason}>{data.version?.reason === "" ? "—" : data.version?.reason}</Fact>
      </Facts>
      <section aria-label={messages.changes} className="rounded-lg border border-line pt-3">
        <h3 className="px-4 pb-3 font-medium">{messages.changes}</h3>
        <CatalogDifference changes={data.changes} />
      </section>
      <CodeBlock code={data.yaml} what={messages.yaml} />
      <Button
        onClick={() => onDraft({ yaml: data.yaml, base: live?.version ?? number })}
        disabled={live === undefined || number === live.version}
      >
        {messages.asDraft}
      </Button>
    </div>
  );
}
