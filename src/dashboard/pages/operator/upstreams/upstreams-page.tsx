import { useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { UpstreamFigures, UpstreamHealth } from "#gen/saldo/operator/v1/upstream_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { OPERATOR_WORDS } from "../operator-words.ts";
import { useChangeAddress } from "../components/address.ts";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { UPSTREAMS_WORDS } from "./upstreams-words.ts";

const ASK_AGAIN_MS = 10_000;

/** Every upstream and how it does. It asks again by itself while somebody looks. */
export function UpstreamsPage() {
  const words = useWords(UPSTREAMS_WORDS);
  const change = useChangeAddress();
  const { upstream } = useSearch({ from: "/inside/operator/upstreams" });
  const { data, error, refetch } = useQuery(
    OperatorService.method.listUpstreams,
    {},
    { refetchInterval: ASK_AGAIN_MS },
  );
  const columns = useColumns();
  const opened = data?.upstreams.find((each) => each.upstream?.id === upstream);
  return (
    <Page title={words.title} about={words.about}>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      <Card flush>
        {data === undefined && error === null ? <SkeletonLines /> : null}
        {data?.upstreams.length === 0 ? <Empty title={words.nothing}>{words.nothingAbout}</Empty> : null}
        {data === undefined || data.upstreams.length === 0 ? null : (
          <Table
            label={words.list}
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
  const words = useWords(UPSTREAMS_WORDS);
  const formats = useFormats();
  const when = useWhen();
  return [
    {
      key: "upstream",
      head: words.upstream,
      cell: ({ upstream, isPreset }) => (
        <>
          <Mono>{upstream?.id}</Mono>
          {isPreset ? <span className="block text-xs text-muted">{words.preset}</span> : null}
        </>
      ),
    },
    { key: "credential", head: words.credential, cell: (health) => <Credential health={health} /> },
    { key: "models", head: words.models, right: true, wide: true, cell: ({ models }) => formats.count(models) },
    { key: "recent", head: words.recent, right: true, cell: ({ recent }) => <Answers figures={recent} /> },
    { key: "hour", head: words.hour, right: true, wide: true, cell: ({ hour }) => <Answers figures={hour} /> },
    {
      key: "firstByte",
      head: words.firstByte,
      right: true,
      wide: true,
      cell: ({ hour }) => <FirstByte figures={hour} />,
    },
    {
      key: "last",
      head: words.lastAnswered,
      wide: true,
      cell: ({ lastAnsweredAt }) => <span className="text-muted md:whitespace-nowrap">{when(lastAnsweredAt)}</span>,
    },
  ];
}

function Credential({ health: { isKnown, isCredentialSet, variable } }: { readonly health: UpstreamHealth }) {
  const words = useWords(UPSTREAMS_WORDS);
  if (!isKnown) return <Badge tone="bad">{words.unknown}</Badge>;
  if (!isCredentialSet) return <Badge tone="bad">{words.notSet}</Badge>;
  return <Badge tone={variable === "" ? "neutral" : "good"}>{variable === "" ? words.notNeeded : words.isSet}</Badge>;
}

function Answers({ figures }: { readonly figures: UpstreamFigures | undefined }) {
  const words = useWords(UPSTREAMS_WORDS);
  const formats = useFormats();
  if (figures === undefined) return UNKNOWN;
  return (
    <span className="inline-flex flex-col items-end whitespace-nowrap">
      <span>
        {formats.count(figures.answered)} {words.answered}
      </span>
      <span className={figures.failed === 0n ? "text-xs text-muted" : "text-xs font-medium text-bad"}>
        {formats.count(figures.failed)} {words.failed}
      </span>
    </span>
  );
}

function FirstByte({ figures }: { readonly figures: UpstreamFigures | undefined }) {
  const words = useWords(UPSTREAMS_WORDS);
  const formats = useFormats();
  const told = (ms: number | undefined) => (ms === undefined ? UNKNOWN : `≤ ${formats.count(ms)} ${words.ms}`);
  return (
    <span className="whitespace-nowrap">
      {told(figures?.firstByteP50Ms)} / {told(figures?.firstByteP95Ms)}
    </span>
  );
}

function Details({ health }: { readonly health: UpstreamHealth }) {
  const words = useWords(UPSTREAMS_WORDS);
  const shared = useWords(OPERATOR_WORDS);
  const when = useWhen();
  const { upstream, variable, lastAnsweredAt, lastFailedAt, lastFailure, mixedUpAt, hiddenOutputModels } = health;
  return (
    <Facts>
      <Fact name={words.credential}>
        <Credential health={health} />
      </Fact>
      <Fact name={words.variable}>{variable === "" ? shared.none : <Mono>{variable}</Mono>}</Fact>
      <Fact name={words.kind}>{upstream?.kind === "" ? UNKNOWN : <Mono>{upstream?.kind}</Mono>}</Fact>
      <Fact name={words.baseUrl}>{upstream?.baseUrl === "" ? UNKNOWN : <Mono>{upstream?.baseUrl}</Mono>}</Fact>
      <Fact name={words.privateAddress}>{upstream?.allowPrivateAddress === true ? shared.yes : shared.no}</Fact>
      <Fact name={words.recent}>
        <Answers figures={health.recent} />
      </Fact>
      <Fact name={words.hour}>
        <Answers figures={health.hour} />
      </Fact>
      <Fact name={words.firstByte}>
        <FirstByte figures={health.hour} />
      </Fact>
      <Fact name={words.lastAnswered}>{lastAnsweredAt === undefined ? words.notInADay : when(lastAnsweredAt)}</Fact>
      <Fact name={words.lastFailed}>{lastFailedAt === undefined ? words.notInADay : when(lastFailedAt)}</Fact>
      {lastFailure === "" ? null : <Fact name={words.failure}>{lastFailure}</Fact>}
      {mixedUpAt === undefined ? null : (
        <Fact name={words.mixedUp}>
          {when(mixedUpAt)}. {words.mixedUpAbout}
        </Fact>
      )}
      {hiddenOutputModels.length === 0 ? null : (
        <Fact name={words.hiddenOutput}>
          <Mono>{hiddenOutputModels.join(", ")}</Mono> {words.hiddenOutputAbout}
        </Fact>
      )}
    </Facts>
  );
}
