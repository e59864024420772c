import type { CreateServiceTokenResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Secret } from "../../../components/secret.tsx";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";

/** Shows a new token, once, until the reader confirms that it is stored. */
export function TokenSecretDialog({
  made,
  onClose,
}: {
  readonly made: CreateServiceTokenResponse;
  readonly onClose: () => void;
}) {
  const messages = useMessages(TOKENS_MESSAGES);
  return (
    <Dialog kept open onClose={onClose} title={messages.made} about={messages.madeAbout}>
      <Secret name={`${messages.secret}: ${made.token?.name ?? ""}`} text={made.secret} about={messages.headerAbout} />
      <Button variant="action" onClick={onClose} className="self-end">
        {messages.kept}
      </Button>
    </Dialog>
  );
}
