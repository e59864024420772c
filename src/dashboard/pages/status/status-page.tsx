// The state of the service, for everyone. It is fetched without cookies: with the database away no session can be looked up.

import { useQuery } from "@connectrpc/connect-query";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { RefreshCw } from "lucide-react";
import type { Component, Incident } from "#gen/saldo/status/v1/status_pb.ts";
import { type GetStatusResponse, StatusService } from "#gen/saldo/status/v1/status_service_pb.ts";
import { publicTransport } from "../../api/transport.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Failed, SkeletonLines, Stale } from "../../components/states.tsx";
import { When } from "../../components/when.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { STATUS_MESSAGES } from "./status-messages.ts";

/** A little longer than an answer is kept, and than one without records is. */
const REFRESH_MS = { complete: 20_000, unread: 5_000 } as const;
const STATES = ["operational", "degraded", "down", "unknown"] as const;
type State = (typeof STATES)[number];
const TONES = { operational: "good", degraded: "warn", down: "bad", unknown: "neutral" } as const satisfies Record<
  State,
  Tone
>;

type StatusMessages = (typeof STATUS_MESSAGES)[keyof typeof STATUS_MESSAGES];

/** The page. */
export function StatusPage() {
  const messages = useMessages(STATUS_MESSAGES);
  const { data, error, refetch, isFetching } = useQuery(
    StatusService.method.getStatus,
    {},
    {
      transport: publicTransport,
      refetchInterval: ({ state }) => REFRESH_MS[state.data?.complete === false ? "unread" : "complete"],
    },
  );
  return (
    <Page
      title={messages.title}
      about={<About status={data} />}
      actions={
        <Button icon={<RefreshCw aria-hidden />} busy={isFetching} onClick={() => void refetch()}>
          {messages.refresh}
        </Button>
      }
    >
      {data === undefined ? (
        <Card flush>
          {error === null ? <SkeletonLines lines={6} /> : <Failed error={error} retry={() => void refetch()} />}
        </Card>
      ) : (
        <>
          {error === null ? null : <Stale />}
          <Whole status={data} />
          <Components components={data.components} />
          <Incidents components={data.components} />
        </>
      )}
      <p className="text-muted">
        {messages.machines}{" "}
        <a href="/status.json" className="font-mono text-[0.8125rem] text-ink underline underline-offset-2">
          /status.json
        </a>
      </p>
    </Page>
  );
}

function About({ status }: { readonly status: GetStatusResponse | undefined }) {
  const messages = useMessages(STATUS_MESSAGES);
  const formats = useFormats();
  if (status?.asOf === undefined) return messages.about;
  return `${messages.about} ${messages.asOf} ${formats.time(timestampDate(status.asOf))} WIB.`;
}

const WHOLE_STYLES = {
  operational: "bg-good-soft text-good",
  degraded: "bg-warn-soft text-warn",
  down: "bg-bad-soft text-bad",
  unknown: "bg-sunken text-muted",
} as const satisfies Record<State, string>;

/** The state of the whole, as one sentence. */
function Whole({ status }: { readonly status: GetStatusResponse }) {
  const messages = useMessages(STATUS_MESSAGES);
  const state = stateOf(status.state);
  const sentences = {
    operational: messages.wholeOperational,
    degraded: messages.wholeDegraded,
    down: messages.wholeDown,
  };
  return (
    <div role="status" className={`rounded-xl px-4 py-3 ${WHOLE_STYLES[state]}`}>
      <p className="text-base font-semibold">{state === "unknown" ? messages.unknown : sentences[state]}</p>
      {status.complete ? null : <p className="mt-1">{messages.unread}</p>}
    </div>
  );
}

function Components({ components }: { readonly components: readonly Component[] }) {
  const messages = useMessages(STATUS_MESSAGES);
  return (
    <Card flush title={messages.components}>
      <ul>
        {components.map((component) => {
          const { name, about } = labelOf(component, messages);
          const state = stateOf(component.state);
          return (
            <li
              key={`${component.kind} ${component.name}`}
              className="flex items-start justify-between gap-3 border-t border-line px-4 py-3"
            >
              <div className="min-w-0">
                <p className="font-medium wrap-anywhere">{name}</p>
                <p className="text-muted">{about}</p>
              </div>
              <div className="flex shrink-0 flex-col items-end gap-1">
                <Badge tone={TONES[state]}>{messages[state]}</Badge>
                {component.since === undefined ? null : (
                  <p className="text-xs text-muted">
                    {messages.since} <When at={component.since} />
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The incidents of all upstreams, newest first. */
function Incidents({ components }: { readonly components: readonly Component[] }) {
  const messages = useMessages(STATUS_MESSAGES);
  const all = components
    .flatMap((component) => component.incidents.map((incident) => ({ incident, component })))
    .toSorted((one, other) => secondsOf(other.incident.beganAt) - secondsOf(one.incident.beganAt));
  return (
    <Card flush title={messages.incidents}>
      {all.length === 0 ? <p className="border-t border-line px-4 py-3 text-muted">{messages.noIncidents}</p> : null}
      <ul>
        {all.map(({ incident, component }) => (
          <li
            key={`${component.kind} ${component.name} ${secondsOf(incident.beganAt)}`}
            className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-t border-line px-4 py-3"
          >
            <span className="flex min-w-0 items-center gap-2">
              <Badge tone={TONES[stateOf(incident.state)]}>{messages[stateOf(incident.state)]}</Badge>
              <span className="font-medium wrap-anywhere">{labelOf(component, messages).name}</span>
            </span>
            <span className="text-muted">
              <Span incident={incident} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Span({ incident: { beganAt, endedAt } }: { readonly incident: Incident }) {
  const messages = useMessages(STATUS_MESSAGES);
  return (
    <>
      <When at={beganAt} /> – {endedAt === undefined ? messages.lasts : <When at={endedAt} />}
    </>
  );
}

function labelOf(
  { kind, name }: Component,
  messages: StatusMessages,
): { readonly name: string; readonly about: string } {
  switch (kind) {
    case "gateway":
      return { name: messages.gateway, about: messages.gatewayAbout };
    case "top_ups":
      return { name: messages.topUps, about: messages.topUpsAbout };
    case "transfers":
      return { name: messages.transfers, about: messages.transfersAbout };
    default:
      return { name: name === "" ? messages.others : name, about: messages.upstreamAbout };
  }
}

/** A state that this page does not know is unknown. */
function stateOf(text: string): State {
  return STATES.find((each) => each === text) ?? "unknown";
}

function secondsOf(at: Timestamp | undefined): number {
  return Number(at?.seconds ?? 0n);
}
