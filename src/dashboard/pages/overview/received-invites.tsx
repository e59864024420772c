// The open invitations to the person's address: a person who signed up without the link of the mail finds them here.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { reloadForAccount } from "../../api/acting-for.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { useNotify } from "../../components/notices.tsx";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { ROLE_MESSAGES, roleName } from "../../layouts/role-messages.ts";
import { OVERVIEW_MESSAGES } from "./overview-messages.ts";

/** Lists them, each with a button that accepts it. Nothing where there are none. */
export function ReceivedInvites() {
  const messages = useMessages(OVERVIEW_MESSAGES);
  const roles = useMessages(ROLE_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const { data, refetch } = useQuery(MembersService.method.listMyAccounts, {});
  const { mutateAsync, isPending } = useMutation(MembersService.method.acceptInvite);
  const invites = data?.invites ?? [];
  if (invites.length === 0) return null;
  const accept = async (inviteId: string) => {
    try {
      const { account } = await mutateAsync({ inviteId });
      reloadForAccount(account?.accountId ?? "");
    } catch {
      notify(messages.inviteFailed, messages.inviteFailedAbout);
      await refetch();
    }
  };
  return (
    <Card title={messages.invites}>
      <ul className="flex flex-col divide-y divide-line">
        {invites.map(({ id, accountName, role, expiresAt }) => (
          <li key={id} className="flex flex-wrap items-center justify-between gap-3 py-3 first:pt-0 last:pb-0">
            <p className="min-w-0 flex-1 basis-72">
              {messages.invitedTo} <strong className="wrap-anywhere">{accountName}</strong> {messages.invitedAs}{" "}
              <strong>{roles[roleName(role)]}</strong>.
              {expiresAt === undefined ? null : (
                <span className="block text-xs text-muted">
                  {messages.inviteEnds} {formats.date(timestampDate(expiresAt))}
                </span>
              )}
            </p>
            <Button variant="action" busy={isPending} onClick={() => void accept(id)}>
              {messages.acceptInvite}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
