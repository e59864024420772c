import type { RequestFailure } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { FAILURE_MESSAGES } from "./failure-messages.ts";

/** Why a request failed, as a sentence. */
export function FailureReason({ failure: { code, inStream, reason } }: { readonly failure: RequestFailure }) {
  const sentences: Readonly<Record<string, string>> = useMessages(FAILURE_MESSAGES);
  return <p>{sentences[inStream && code === "upstream_busy" ? "cut_off" : code] ?? reason}</p>;
}
