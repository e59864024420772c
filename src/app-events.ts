// What the gateway reports besides its answers: logged, and counted for the metrics.

import type { Logger } from "pino";
import type { GatewayEvent } from "./gateway/exchange.ts";
import { loggableEvent } from "./gateway/loggable-event.ts";

export type GatewayEvents = {
  readonly report: (event: GatewayEvent) => void;
  /** How often each kind was reported. */
  readonly counts: ReadonlyMap<GatewayEvent["kind"], number>;
};

/** Makes the receiver of a gateway's reports. */
export function createGatewayEvents(logger: Pick<Logger, "warn">): GatewayEvents {
  const counts = new Map<GatewayEvent["kind"], number>();
  return {
    counts,
    report(event) {
      counts.set(event.kind, (counts.get(event.kind) ?? 0) + 1);
      logger.warn(loggableEvent(event), "gateway");
    },
  };
}
