import { useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import type { UpstreamFigures, UpstreamHealth } from "#gen/saldo/operator/v1/upstream_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { UPSTREAMS_MESSAGES } from "./upstreams-messages.ts";

const ASK_AGAIN_MS = 10_000;

/** Every upstream and its state. It refreshes by itself while the page is visible. */
export function UpstreamsPage() {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  const change = useChangeAddress();
  const { upstream } = useSearch({ from: "/inside/operator/upstreams" });
  const { data, error, refetch } = useQuery(CatalogService.method.listUpstreams, {}, { refetchInterval: ASK_AGAIN_MS });
  const columns = useColumns();
  const opened = data?.upstreams.find((each) => each.upstream?.id === upstream);
  return (
    <Page title={messages.title} about={messages.about}>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      <Card flush>
        {data === undefined && error === null ? <SkeletonLines /> : null}
        {data?.upstreams.length === 0 ? <Empty title={messages.nothing}>{messages.nothingAbout}</Empty> : null}
        {data === undefined || data.upstreams.length === 0 ? null : (
          <Table
            label={messages.list}
            columns={columns}
            rows={data.upstreams}
            keyOf={(each) => each.upstream?.id ?? ""}
            onOpen={(each) => change({ upstream: each.upstream?.id })}
          />
        )}
      </Card>
      <Dialog
        side
        open={opened !== undefined}
        onClose={() => change({ upstream: undefined })}
        title={<Mono>{upstream}</Mono>}
      >
        {opened === undefined ? null : <Details health={opened} />}
      </Dialog>
    </Page>
  );
}

function useColumns(): readonly Column<UpstreamHealth>[] {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "upstream",
      head: messages.upstream,
      cell: ({ upstream, isPreset }) => (
        <>
          <Mono>{upstream?.id}</Mono>
          {isPreset ? <span className="block text-xs text-muted">{messages.preset}</span> : null}
        </>
      ),
    },
    { key: "credential", head: messages.credential, cell: (health) => <Credential health={health} /> },
    { key: "models", head: messages.models, right: true, wide: true, cell: ({ models }) => formats.count(models) },
    { key: "recent", head: messages.recent, right: true, cell: ({ recent }) => <Answers figures={recent} /> },
    { key: "hour", head: messages.hour, right: true, wide: true, cell: ({ hour }) => <Answers figures={hour} /> },
    {
      key: "firstByte",
      head: messages.firstByte,
      right: true,
      wide: true,
      cell: ({ hour }) => <FirstByte figures={hour} />,
    },
    {
      key: "last",
      head: messages.lastAnswered,
      wide: true,
      cell: ({ lastAnsweredAt }) => <span className="text-muted md:whitespace-nowrap">{when(lastAnsweredAt)}</span>,
    },
  ];
}

function Credential({ health: { isKnown, isCredentialSet, variable } }: { readonly health: UpstreamHealth }) {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  if (!isKnown) return <Badge tone="bad">{messages.unknown}</Badge>;
  if (!isCredentialSet) return <Badge tone="bad">{messages.notSet}</Badge>;
  return (
    <Badge tone={variable === "" ? "neutral" : "good"}>{variable === "" ? messages.notNeeded : messages.isSet}</Badge>
  );
}

function Answers({ figures }: { readonly figures: UpstreamFigures | undefined }) {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  const formats = useFormats();
  if (figures === undefined) return UNKNOWN;
  return (
    <span className="inline-flex flex-col items-end whitespace-nowrap">
      <span>
        {formats.count(figures.answered)} {messages.answered}
      </span>
      <span className={figures.failed === 0n ? "text-xs text-muted" : "text-xs font-medium text-bad"}>
        {formats.count(figures.failed)} {messages.failed}
      </span>
    </span>
  );
}

function FirstByte({ figures }: { readonly figures: UpstreamFigures | undefined }) {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  const formats = useFormats();
  const latency = (ms: number | undefined) => (ms === undefined ? UNKNOWN : `≤ ${formats.count(ms)} ${messages.ms}`);
  return (
    <span className="whitespace-nowrap">
      {latency(figures?.firstByteP50Ms)} / {latency(figures?.firstByteP95Ms)}
    </span>
  );
}

function Details({ health }: { readonly health: UpstreamHealth }) {
  const messages = useMessages(UPSTREAMS_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const when = useWhen();
  const { upstream, variable, lastAnsweredAt, lastFailedAt, lastFailure, mixedUpAt, hiddenOutputModels } = health;
  return (
    <Facts>
      <Fact name={messages.credential}>
        <Credential health={health} />
      </Fact>
      <Fact name={messages.variable}>{variable === "" ? shared.none : <Mono>{variable}</Mono>}</Fact>
      <Fact name={messages.kind}>{upstream?.kind === "" ? UNKNOWN : <Mono>{upstream?.kind}</Mono>}</Fact>
      <Fact name={messages.baseUrl}>{upstream?.baseUrl === "" ? UNKNOWN : <Mono>{upstream?.baseUrl}</Mono>}</Fact>
      <Fact name={messages.privateAddress}>{upstream?.allowPrivateAddress === true ? shared.yes : shared.no}</Fact>
      <Fact name={messages.recent}>
        <Answers figures={health.recent} />
      </Fact>
      <Fact name={messages.hour}>
        <Answers figures={health.hour} />
      </Fact>
      <Fact name={messages.firstByte}>
        <FirstByte figures={health.hour} />
      </Fact>
      <Fact name={messages.lastAnswered}>
        {lastAnsweredAt === undefined ? messages.notInADay : when(lastAnsweredAt)}
      </Fact>
      <Fact name={messages.lastFailed}>{lastFailedAt === undefined ? messages.notInADay : when(lastFailedAt)}</Fact>
      {lastFailure === "" ? null : <Fact name={messages.failure}>{lastFailure}</Fact>}
      {mixedUpAt === undefined ? null : (
        <Fact name={messages.mixedUp}>
          {when(mixedUpAt)}. {messages.mixedUpAbout}
        </Fact>
      )}
      {hiddenOutputModels.length === 0 ? null : (
        <Fact name={messages.hiddenOutput}>
          <Mono>{hiddenOutputModels.join(", ")}</Mono> {messages.hiddenOutputAbout}
        </Fact>
      )}
    </Facts>
  );
}
