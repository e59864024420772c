import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import type { ServiceToken } from "#gen/saldo/accounts/v1/person_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { CommandDialog, commandTexts, useNotifyOutcome, useCommand } from "../components/command.tsx";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";
import { maskedToken } from "./token-columns.tsx";

/** Revokes a token. It only takes access away, so the server asks for no fresh proof. */
export function RevokeTokenDialog({ token, onClose }: { readonly token: ServiceToken; readonly onClose: () => void }) {
  const messages = useMessages(TOKENS_MESSAGES);
  const notifyOutcome = useNotifyOutcome();
  const revoke = useCommand(AccountsService.method.revokeServiceToken);
  const send = async () => {
    await revoke.mutateAsync({ tokenId: token.id });
    notifyOutcome({}, messages.revokedNow, token.name);
  };
  return (
    <CommandDialog {...commandTexts(messages, "revoke")} onClose={onClose} isDanger onCommand={send}>
      <Facts>
        <Fact name={messages.name}>{token.name}</Fact>
        <Fact name={messages.secret}>
          <Mono>{maskedToken(token)}</Mono>
        </Fact>
      </Facts>
    </CommandDialog>
  );
}
