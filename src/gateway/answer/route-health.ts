/** For so long an upstream that failed is not preferred. */
const UNHEALTHY_MS = 30_000;

/** The upstreams that failed lately, as this process saw it. */
export class RouteHealth {
  /** By the id of the upstream. */
  readonly #failedAtMs = new Map<string, number>();

  /** An attempt failed, or its answer broke off. */
  failed(upstream: string, nowMs: number): void {
    this.#failedAtMs.set(upstream, nowMs);
  }

  answered(upstream: string): void {
    this.#failedAtMs.delete(upstream);
  }

  /** Whether the upstream has answered since it failed, or has not failed for a while. */
  isHealthy(upstream: string, nowMs: number): boolean {
    const failedAtMs = this.#failedAtMs.get(upstream);
    return failedAtMs === undefined || nowMs - failedAtMs >= UNHEALTHY_MS;
  }
}
