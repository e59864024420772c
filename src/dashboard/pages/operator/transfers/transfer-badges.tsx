import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { StatusBadge } from "../../transfers/transfer-status.tsx";
import { Environment } from "../components/environment.tsx";
import { TRANSFERS_WORDS } from "./transfers-words.ts";

/** How a transfer stands and in which world. What waits for an operator says so instead of that it waits. */
export function TransferBadges({
  transfer: { status, environment },
  awaitsApproval,
}: {
  readonly transfer: Transfer;
  readonly awaitsApproval: boolean;
}) {
  const words = useWords(TRANSFERS_WORDS);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {awaitsApproval ? <Badge tone="warn">{words.needsApproval}</Badge> : <StatusBadge status={status} />}
      <Environment name={environment} />
    </span>
  );
}
