// Whether the shown data is old, because the network is away or calls do not reach the server.

import { ConnectError } from "@connectrpc/connect";
import { notifyManager, onlineManager, type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { factsOf, isProofMissing, isSignedOut } from "./transport.ts";

/** The data is as new as it can be. */
const CURRENT = -1;

/** Since when the shown data is old; `at` null: nothing is shown yet. Null: it is not old. */
export function useOutdated(): { readonly at: Date | null } | null {
  const queries = useQueryClient();
  const since = useSyncExternalStore(
    (listener) => listen(queries, listener),
    () => oldest(queries.getQueryCache().getAll(), onlineManager.isOnline()),
  );
  if (since === CURRENT) return null;
  return { at: since === 0 ? null : new Date(since) };
}

function listen(queries: QueryClient, listener: () => void): () => void {
  const leaves = [
    queries.getQueryCache().subscribe(notifyManager.batchCalls(listener)),
    onlineManager.subscribe(listener),
  ];
  return () => {
    for (const leave of leaves) leave();
  };
}

/**
 * When the oldest answer arrived that is shown and cannot be fetched again, in milliseconds; 0: no answer is shown. While the browser
 * is offline no answer can be fetched.
 */
export function oldest(all: readonly Query[], isOnline: boolean): number {
  const shown = all.filter((query) => query.isActive() && query.state.dataUpdatedAt > 0);
  const old = isOnline ? shown.filter(isUnreached) : shown;
  if (old.length === 0) return isOnline ? CURRENT : 0;
  return Math.min(...old.map(({ state }) => state.dataUpdatedAt));
}

/** Whether the last try got no answer of the server: an error of its own has facts, or ends the session. */
function isUnreached({ state }: Query): boolean {
  const reason: unknown = state.fetchFailureReason ?? state.error;
  if (reason === null) return false;
  const error = ConnectError.from(reason);
  return factsOf(error) === null && !isSignedOut(error) && !isProofMissing(error);
}
