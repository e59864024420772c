// The account that the page shows, and the way to another one. A person with one account sees its name alone.

import { useMutation, useQuery } from "@connectrpc/connect-query";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { reloadForAccount } from "../api/acting-for.ts";
import { SelectField } from "../components/field.tsx";
import { useNotify } from "../components/notices.tsx";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { useActingFor } from "./role.ts";
import { ROLE_MESSAGES, roleName } from "./role-messages.ts";

const MESSAGES = {
  id: { account: "Akun", failed: "Akun tidak dapat diganti", failedAbout: "Coba lagi sebentar lagi." },
  en: { account: "Account", failed: "The account could not be switched", failedAbout: "Try again in a moment." },
} satisfies Messages<Record<string, string>>;

/** Shows the account and its role; with several accounts, a choice. */
export function AccountSwitcher() {
  const messages = useMessages(MESSAGES);
  const roles = useMessages(ROLE_MESSAGES);
  const notify = useNotify();
  const current = useActingFor();
  const { data } = useQuery(MembersService.method.listMyAccounts, {});
  const { mutateAsync, isPending } = useMutation(MembersService.method.switchAccount);
  const accounts = data?.accounts ?? [];
  if (current === undefined || (accounts.length < 2 && accounts[0]?.accountId === current.accountId)) return null;
  const isListed = accounts.some(({ accountId }) => accountId === current.accountId);
  const change = async (accountId: string) => {
    try {
      await mutateAsync({ accountId });
      reloadForAccount(accountId);
    } catch {
      notify(messages.failed, messages.failedAbout);
    }
  };
  return (
    <div className="px-5 pt-2">
      <SelectField
        label={messages.account}
        hint={roles[roleName(current.role)]}
        value={current.accountId}
        disabled={isPending}
        onChange={({ target }) => void change(target.value)}
      >
        {/* An account that the person is no member of any more. */}
        {isListed ? null : <option value={current.accountId}>—</option>}
        {accounts.map(({ accountId, accountName }) => (
          <option key={accountId} value={accountId}>
            {accountName}
          </option>
        ))}
      </SelectField>
    </div>
  );
}
