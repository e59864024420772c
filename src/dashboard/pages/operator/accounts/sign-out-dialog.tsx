// Ending every session of the person who owns an account.

import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { isNotFound } from "../../../api/transport.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Fact, Facts } from "../../../components/facts.tsx";
import { useNotify } from "../../../components/notices.tsx";
import { commandTexts, ReasonDialog, useCommand } from "../components/command.tsx";
import { ACCOUNTS_MESSAGES } from "./accounts-messages.ts";

/** The command. It only takes access away, so the server asks for no fresh proof. */
export function SignOutDialog({ email, onClose }: { readonly email: string; readonly onClose: () => void }) {
  const messages = useMessages(ACCOUNTS_MESSAGES);
  const formats = useFormats();
  const notify = useNotify();
  const signOut = useCommand(AccountsService.method.signOutPerson);
  const send = async (reason: string) => {
    const { sessions } = await signOut.mutateAsync({ email, reason });
    notify(
      sessions === 0 ? messages.noSessions : messages.signedOut,
      `${messages.sessionsEnded}: ${formats.count(sessions)}`,
    );
  };
  return (
    <ReasonDialog
      {...commandTexts(messages, "signOut")}
      onClose={onClose}
      isDanger
      onCommand={send}
      onRefused={(error) => (isNotFound(error) ? <p className="text-muted">{messages.noPerson}</p> : null)}
    >
      <Facts>
        <Fact name={messages.email}>{email}</Fact>
      </Facts>
    </ReasonDialog>
  );
}
