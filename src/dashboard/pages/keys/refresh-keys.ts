import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";

/** Asks for the keys again, wherever they are shown: after one was made, renamed or revoked. */
export function useRefreshKeys(): () => Promise<void> {
  const queries = useQueryClient();
  // Without the cardinality it is both: the pages of the list, and the single page that gives other pages their names.
  const queryKey = createConnectQueryKey({ schema: KeysService.method.listKeys, cardinality: undefined });
  return () => queries.invalidateQueries({ queryKey });
}
