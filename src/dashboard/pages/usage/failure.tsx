// The failure of a request: status and code in a line, and the reason as a sentence.

import type { RequestFailure } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { FAILURE_MESSAGES } from "./failure-messages.ts";

type FailureProps = { readonly failure: RequestFailure };

/** `503 upstream_busy`. A client that left got no status. */
export function FailureCode({ failure: { code, httpStatus } }: FailureProps) {
  return (
    <span className="font-mono text-xs text-muted wrap-anywhere">
      {httpStatus === undefined ? "" : `${httpStatus} `}
      {code}
    </span>
  );
}

/** Why the request failed. */
export function useFailureReason({ code, inStream, reason }: RequestFailure): string {
  const sentences: Readonly<Record<string, string>> = useMessages(FAILURE_MESSAGES);
  return sentences[inStream && code === "upstream_busy" ? "cut_off" : code] ?? reason;
}
