// Refusals of the gRPC port before there is a call to log, counted for the metrics.

/**
 * Why: the authority is no host, a connection or a stream is one too many, a peer no longer answers, or a request takes too
 * long to arrive.
 */
const REASONS = ["authority", "sessions", "streams", "silent_peer", "slow_request"] as const;
export type RefusedAtPort = (typeof REASONS)[number];

/** Counts them. */
export class PortRefusals {
  readonly counts = new Map<RefusedAtPort, number>(REASONS.map((reason) => [reason, 0]));

  note(reason: RefusedAtPort): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  }
}
