import type { Transfer } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { StatusBadge } from "../../transfers/transfer-status.tsx";
import { Environment } from "../components/environment.tsx";
import { TRANSFERS_MESSAGES } from "./transfers-messages.ts";

/** The state and the environment of a transfer. One that waits for an operator shows that instead of its status. */
export function TransferBadges({
  transfer: { status, environment },
  awaitsApproval,
}: {
  readonly transfer: Transfer;
  readonly awaitsApproval: boolean;
}) {
  const messages = useMessages(TRANSFERS_MESSAGES);
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {awaitsApproval ? <Badge tone="warn">{messages.needsApproval}</Badge> : <StatusBadge status={status} />}
      <Environment environment={environment} />
    </span>
  );
}
