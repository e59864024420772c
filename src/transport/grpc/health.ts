// grpc.health.v1 for balancers and orchestrators. A service is healthy when the process is ready for it; all are together.

import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { HealthCheckResponse_ServingStatus as Status, type Health } from "#gen/grpc/health/v1/health_pb.ts";
import { OpenCalls } from "./open-calls.ts";

const WATCH_INTERVAL_MS = 1_000;
/** The most watches of a process. They need no credentials, and each is a stream that does not end. */
export const MAX_WATCHES = 100;

/**
 * Answers health checks. `ready` is the probe behind /readyz, which caches its result: it is called for each check and once a
 * second for each watch. The empty service name means the server as a whole. When `stopping` is aborted, watchers are
 * notified and their streams end, so that they do not delay the shutdown.
 */
export function createHealth(
  names: readonly string[],
  ready: () => Promise<boolean>,
  stopping: AbortSignal,
): ServiceImpl<typeof Health> {
  const watches = new OpenCalls(MAX_WATCHES);
  const status = async () => (!stopping.aborted && (await ready()) ? Status.SERVING : Status.NOT_SERVING);
  const isKnown = (service: string) => service === "" || names.includes(service);
  return {
    async check({ service }) {
      if (!isKnown(service)) throw new ConnectError("There is no service of this name.", Code.NotFound);
      return { status: await status() };
    },
    async list() {
      const now = await status();
      return { statuses: Object.fromEntries(["", ...names].map((name) => [name, { status: now }])) };
    },
    async *watch({ service }, { signal }) {
      const end = watches.open();
      const ended = AbortSignal.any([signal, stopping]);
      let last: Status | undefined;
      try {
        while (!signal.aborted) {
          const now = isKnown(service) ? await status() : Status.SERVICE_UNKNOWN;
          if (now !== last) yield { status: now };
          if (stopping.aborted) return;
          last = now;
          await elapsed(WATCH_INTERVAL_MS, ended);
        }
      } finally {
        end();
      }
    },
  };
}

/** Waits, or ends at once when the watcher leaves. */
function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
  return promise;
}
