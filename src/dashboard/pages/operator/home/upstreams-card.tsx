// The upstreams that models are routed to, and whether they answer.

import type { ListUpstreamsResponse, UpstreamHealth } from "#gen/saldo/operator/v1/upstream_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { LinkButton } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Mono } from "../../../components/facts.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { OPERATOR_HOME_MESSAGES } from "./operator-home-messages.ts";

/** Whether an upstream failed more often than it answered. */
export function isFailing({ recent }: UpstreamHealth): boolean {
  return recent !== undefined && recent.failed > 0n && recent.failed >= recent.answered;
}

type UpstreamsProps = {
  readonly query: {
    readonly data: ListUpstreamsResponse | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
};

/** Those that serve a model, the failing ones first. */
export function UpstreamsCard({ query: { data, error, refetch } }: UpstreamsProps) {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  const formats = useFormats();
  const serving = data?.upstreams
    .filter(({ models }) => models > 0)
    .toSorted((one, other) => Number(isFailing(other)) - Number(isFailing(one)));
  return (
    <Card title={messages.upstreams} aside={<LinkButton to="/operator/upstreams">{messages.allUpstreams}</LinkButton>}>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      {serving === undefined && error === null ? <SkeletonLines lines={3} /> : null}
      {serving?.length === 0 ? <p className="text-muted">{messages.noUpstreams}</p> : null}
      {serving === undefined || serving.length === 0 ? null : (
        <>
          <ul className="flex flex-col gap-2">
            {serving.map((health) => (
              <li key={health.upstream?.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <Health health={health} />
                <span className="min-w-0 flex-1 break-all">
                  <Mono>{health.upstream?.id}</Mono>
                </span>
                <span className="digits text-xs text-muted">
                  {formats.count(health.recent?.answered ?? 0n)} {messages.answered} ·{" "}
                  {formats.count(health.recent?.failed ?? 0n)} {messages.failed}
                </span>
              </li>
            ))}
          </ul>
          <p className="mt-3 text-xs text-muted">{messages.upstreamsAbout}</p>
        </>
      )}
    </Card>
  );
}

function Health({ health }: { readonly health: UpstreamHealth }) {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  if (isFailing(health)) return <Badge tone="bad">{messages.failing}</Badge>;
  const { answered = 0n, failed = 0n } = health.recent ?? {};
  if (answered + failed === 0n) return <Badge>{messages.quiet}</Badge>;
  return <Badge tone="good">{messages.healthy}</Badge>;
}
