// The latest findings of the audits, and when they ran.

import { useQuery } from "@connectrpc/connect-query";
import { AuditKind, type AuditState, type AuditViolation } from "#gen/saldo/operator/v1/audit_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Card } from "../../../components/card.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { useWhen } from "../components/amounts.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { SERVICE_MESSAGES } from "./service-messages.ts";

const ASK_AGAIN_MS = 30_000;

/** Each kind of audit with its last findings. */
export function AuditsCard() {
  const messages = useMessages(SERVICE_MESSAGES);
  const { data, error, refetch } = useQuery(LedgerService.method.listAudits, {}, { refetchInterval: ASK_AGAIN_MS });
  if (error !== null) return <Failed error={error} retry={() => void refetch()} />;
  if (data === undefined) {
    return (
      <Card title={messages.audits}>
        <SkeletonLines />
      </Card>
    );
  }
  return (
    <section aria-label={messages.audits} className="grid items-start gap-4 lg:grid-cols-2">
      {data.audits.map((audit) => (
        <Audit key={audit.kind} audit={audit} />
      ))}
    </section>
  );
}

function Audit({ audit }: { readonly audit: AuditState }) {
  const messages = useMessages(SERVICE_MESSAGES);
  const when = useWhen();
  const name = audit.kind === AuditKind.FULL ? messages.full : messages.incremental;
  const moment = (at: AuditState["startedAt"]) => (at === undefined ? messages.never : when(at));
  return (
    <Card flush title={`${messages.audits}: ${name}`} aside={<Outcome audit={audit} />}>
      <div className="px-4 pb-4">
        <Facts>
          <Fact name={messages.started}>{moment(audit.startedAt)}</Fact>
          <Fact name={messages.finished}>{moment(audit.finishedAt)}</Fact>
          <Fact name={messages.covered}>{moment(audit.coveredUntil)}</Fact>
        </Facts>
      </div>
      {audit.violations.length === 0 ? null : <Violations violations={audit.violations} />}
    </Card>
  );
}

function Outcome({ audit: { finishedAt, violationCount } }: { readonly audit: AuditState }) {
  const messages = useMessages(SERVICE_MESSAGES);
  const formats = useFormats();
  if (finishedAt === undefined) return <Badge tone="neutral">{messages.notRun}</Badge>;
  if (violationCount === 0) return <Badge tone="good">{messages.clean}</Badge>;
  return (
    <Badge tone="bad">
      {formats.count(violationCount)} {messages.violations}
    </Badge>
  );
}

function Violations({ violations }: { readonly violations: readonly AuditViolation[] }) {
  const messages = useMessages(SERVICE_MESSAGES);
  const columns: readonly Column<AuditViolation>[] = [
    { key: "rule", head: messages.rule, cell: ({ check }) => check },
    { key: "subject", head: messages.subject, cell: ({ subject }) => <Mono>{subject}</Mono> },
    { key: "detail", head: messages.detail, cell: ({ detail }) => <span className="break-words">{detail}</span> },
  ];
  return (
    <>
      <Table
        label={messages.violations}
        columns={columns}
        rows={violations}
        keyOf={({ check, subject, detail }) => `${check} ${subject} ${detail}`}
      />
      <p className="px-4 pb-3 text-xs text-muted">{messages.shownFirst}</p>
    </>
  );
}
