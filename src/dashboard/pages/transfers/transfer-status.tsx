// How a transfer's status is shown.

import { useMessages } from "../../i18n/language.tsx";
import { Badge, type Tone } from "../../components/badge.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";

/** Every status, in the order of a transfer's progress. */
export const STATUSES = ["WAITING", "PENDING", "SUBMITTED", "CONFIRMED", "REJECTED", "CANCELED"] as const;

export type TransferStatus = (typeof STATUSES)[number];

const TONES: Readonly<Record<TransferStatus, Tone>> = {
  WAITING: "warn",
  PENDING: "warn",
  SUBMITTED: "info",
  CONFIRMED: "good",
  REJECTED: "bad",
  CANCELED: "neutral",
};

/** Whether a text is a status that this page knows. */
export function isStatus(text: string | undefined): text is TransferStatus {
  return STATUSES.some((status) => status === text);
}

/** Whether a transfer can still change. */
export function isOpen(status: string): boolean {
  return status === "WAITING" || status === "PENDING" || status === "SUBMITTED";
}

/** Whether canceling is offered; the server decides whether it is too late. */
export function mayBeCanceled(status: string): boolean {
  return status === "WAITING" || status === "PENDING";
}

/** The status as a word with an icon; one that only a newer server knows is shown unchanged. */
export function StatusBadge({ status }: { readonly status: string }) {
  const messages = useMessages(MERCHANT_MESSAGES);
  return isStatus(status) ? <Badge tone={TONES[status]}>{messages[status]}</Badge> : <Badge>{status}</Badge>;
}
