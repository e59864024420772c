// Whether the database answers this process, under each login that it serves with.

import type { Database } from "../../database/database.ts";
import { Reachability } from "../../database/reachability.ts";
import { REQUEST_ROLE, SERVING_ROLE } from "../../database/serving-settings.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

/** The probe behind /readyz. Chat requests that have a login of their own can lose it alone. */
export function createReadiness(database: Database, logger: Pick<EventLogger, "info" | "warn">) {
  const probe = (login: string, { connect }: Pick<Database, "connect">) =>
    new Reachability(connect, {
      onChange: (err) =>
        err === null
          ? logger.info({ event: "database.reachable", login }, "the database answers again")
          : logger.warn({ event: "database.unreachable", login, err }, "the database does not answer"),
    });
  const probes = [probe(SERVING_ROLE, database)];
  if (database.requestsHaveLogin) probes.push(probe(REQUEST_ROLE, database.requests));
  return {
    isReachable: async () => (await Promise.all(probes.map((each) => each.isReachable()))).every(Boolean),
    close: async () => void (await Promise.all(probes.map((each) => each.close()))),
  };
}
