import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";

/** Fetches the keys again everywhere after one was created, renamed or revoked. */
export function useRefreshKeys(): () => Promise<void> {
  const queries = useQueryClient();
  // Without a cardinality this matches both queries: the list's pages, and the single page that other pages read names
  // from.
  const queryKey = createConnectQueryKey({ schema: KeysService.method.listKeys, cardinality: undefined });
  return () => queries.invalidateQueries({ queryKey });
}
