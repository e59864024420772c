import { useQuery } from "@connectrpc/connect-query";
import type { Member } from "#gen/saldo/identity/v1/member_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { isAllowed, useActingFor } from "../../layouts/role.ts";

/** The members of the account, where the person may see them. Until the role is known they are not asked for. */
export function useMembersSeen(): readonly Member[] {
  const role = useActingFor()?.role;
  const isShown = role !== undefined && isAllowed(role, "read");
  const { data } = useQuery(MembersService.method.listMembers, {}, { enabled: isShown });
  return data?.members ?? [];
}

/** The addresses of several members by person. Empty where the account has one: then a name is of no use. */
export function useMakers(): ReadonlyMap<string, string> {
  const members = useMembersSeen();
  return new Map(members.length < 2 ? [] : members.map(({ personId, email }) => [personId, email]));
}
