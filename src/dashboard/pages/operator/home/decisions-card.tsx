// What waits for an operator, each with a link to its list.

import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { OpenDecisions } from "#gen/saldo/operator/v1/overview_pb.ts";
import type { UpstreamHealth } from "#gen/saldo/operator/v1/upstream_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { OPERATOR_HOME_MESSAGES } from "./operator-home-messages.ts";
import { isFailing } from "./upstreams-card.tsx";

/** The server counts no further. */
const MOST_COUNTED = 100;

type Decision = Pick<LinkProps, "search"> & {
  readonly name: keyof typeof OPERATOR_HOME_MESSAGES.id;
  readonly count: number;
  readonly to: NonNullable<LinkProps["to"]>;
  /** Whether money or service is in danger. */
  readonly isUrgent?: boolean;
};

type DecisionsProps = {
  readonly decisions: OpenDecisions | undefined;
  readonly upstreams: readonly UpstreamHealth[];
};

/** The list. What counts nothing is not in it. */
export function DecisionsCard({ decisions, upstreams }: DecisionsProps) {
  const messages = useMessages(OPERATOR_HOME_MESSAGES);
  const formats = useFormats();
  const open = decisionsOf(decisions, upstreams.filter(isFailing).length).filter(({ count }) => count > 0);
  return (
    <Card flush title={messages.decisions}>
      {open.length === 0 ? (
        <p className="px-4 pb-4">
          <Badge tone="good">{messages.noDecisions}</Badge>
        </p>
      ) : (
        <ul className="divide-y divide-line border-t border-line">
          {open.map(({ name, count, isUrgent = false, ...link }) => (
            <li key={name}>
              <Link {...link} className="flex min-h-11 items-center gap-3 px-4 py-2 hover:bg-sunken/60">
                <Badge tone={isUrgent ? "bad" : "warn"}>
                  {formats.count(count)}
                  {count >= MOST_COUNTED ? ` ${messages.orMore}` : ""}
                </Badge>
                <span className="min-w-0 flex-1">{messages[name]}</span>
                <ChevronRight className="size-4 shrink-0 text-muted" aria-hidden />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function decisionsOf(decisions: OpenDecisions | undefined, failingUpstreams: number): readonly Decision[] {
  if (decisions === undefined) return [];
  const {
    approvals,
    topUps,
    transfers,
    stoppedWallets,
    payoutStops,
    auditViolations,
    admissionStopped,
    sellerMissing,
  } = decisions;
  return [
    { name: "auditViolations", count: auditViolations, to: "/operator/service", isUrgent: true },
    { name: "admissionStopped", count: Number(admissionStopped), to: "/operator/service", isUrgent: true },
    { name: "failingUpstreams", count: failingUpstreams, to: "/operator/upstreams", isUrgent: true },
    { name: "sellerMissing", count: Number(sellerMissing), to: "/operator/service" },
    { name: "stoppedWallets", count: stoppedWallets, to: "/operator/transfers", isUrgent: true },
    { name: "payoutStops", count: payoutStops, to: "/operator/transfers" },
    { name: "approvals", count: approvals, to: "/operator/approvals" },
    { name: "topUps", count: topUps, to: "/operator/top-ups", search: { problems: "yes" } },
    { name: "transfers", count: transfers, to: "/operator/transfers", search: { approval: "yes" } },
  ];
}
