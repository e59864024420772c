import type { RequestFailure } from "#gen/saldo/billing/v1/usage_pb.ts";

/** `503 upstream_busy`. A client that left got no status. */
export function FailureCode({ failure: { code, httpStatus } }: { readonly failure: RequestFailure }) {
  return (
    <span className="font-mono text-xs text-muted wrap-anywhere">
      {httpStatus === undefined ? "" : `${httpStatus} `}
      {code}
    </span>
  );
}
