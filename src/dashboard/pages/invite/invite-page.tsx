import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { reloadForAccount } from "../../api/acting-for.ts";
import { isNotThere } from "../../api/transport.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { ROLE_MESSAGES, roleName } from "../../layouts/role-messages.ts";
import { INVITE_MESSAGES } from "./invite-messages.ts";

/** Shows what an invitation is to, and accepts it. */
export function InvitePage() {
  const messages = useMessages(INVITE_MESSAGES);
  const roles = useMessages(ROLE_MESSAGES);
  const { token = "" } = useSearch({ from: "/inside/invite" });
  const { data, error, refetch } = useQuery(MembersService.method.showInvite, { token });
  const { mutateAsync, isPending, error: refused } = useMutation(MembersService.method.acceptInvite);
  const accept = async () => {
    try {
      const { account } = await mutateAsync({ token });
      reloadForAccount(account?.accountId ?? "");
    } catch {
      // The page shows it below.
    }
  };
  const problem = refused ?? error;
  return (
    <Page title={messages.title}>
      <Card>
        {problem === null ? null : isNotThere(problem) ? (
          <Empty title={messages.over}>{messages.overAbout}</Empty>
        ) : (
          <Failed error={problem} retry={() => void refetch()} />
        )}
        {data === undefined && error === null ? <SkeletonLines lines={2} /> : null}
        {data === undefined || problem !== null ? null : (
          <div className="flex flex-col items-start gap-4">
            <p>
              {messages.invited} <strong className="wrap-anywhere">{data.accountName}</strong> {messages.as}{" "}
              <strong>{roles[roleName(data.role)]}</strong>.
            </p>
            <Button variant="action" busy={isPending} onClick={() => void accept()}>
              {messages.accept}
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
}
