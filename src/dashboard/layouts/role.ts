// What the signed-in person may do in the account that the page shows. The server decides; the page omits what would be refused.

import { useQuery } from "@connectrpc/connect-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import type { Membership } from "#gen/saldo/identity/v1/member_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";

const { OWNER, ADMIN, DEVELOPER, BILLING, VIEWER } = AccountRole;

/** What pages ask whether the person may. */
export type Ability = "change" | "read" | "pay" | "readMoney" | "askModels" | "readUsage";

const ALLOWED: Readonly<Record<Ability, readonly AccountRole[]>> = {
  change: [OWNER, ADMIN],
  read: [OWNER, ADMIN, VIEWER],
  pay: [OWNER, ADMIN, BILLING],
  readMoney: [OWNER, ADMIN, BILLING, VIEWER],
  askModels: [OWNER, ADMIN, DEVELOPER],
  readUsage: [OWNER, ADMIN, DEVELOPER, VIEWER],
};

/** The account that the session acts for. Undefined: not loaded yet. */
export function useActingFor(): Membership | undefined {
  return useQuery(AccountsService.method.getMe, {}).data?.account;
}

/** Whether a role may. While the role is loading, it is that of most people: an owner's. */
export function isAllowed(role: AccountRole | undefined, ability: Ability): boolean {
  return role === undefined || ALLOWED[ability].includes(role);
}

/** Whether the person may, in the account that the page shows. */
export function useMay(ability: Ability): boolean {
  return isAllowed(useActingFor()?.role, ability);
}
