import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";

/** Fetches everything about members again after a change. */
export function useRefreshMembers(): () => Promise<void> {
  const queries = useQueryClient();
  const queryKey = createConnectQueryKey({ schema: MembersService, cardinality: undefined });
  return () => queries.invalidateQueries({ queryKey });
}
