// Calls with the session of a visit.

import type { Transport } from "@connectrpc/connect";
import { callsWith } from "../setup/session-calls.ts";
import type { Dashboard, Visit } from "./open-dashboard.ts";

/** Makes clients with the session of a visit. */
export async function callsOf({ saldo }: Dashboard, { context }: Visit): Promise<Transport> {
  return callsWith(saldo, (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; "));
}
