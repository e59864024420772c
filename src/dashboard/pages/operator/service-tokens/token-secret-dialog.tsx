import type { CreateServiceTokenResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useWords } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Secret } from "../../../components/secret.tsx";
import { TOKENS_WORDS } from "./service-tokens-words.ts";

/** Shows a new token, once, until the reader says that it is kept. */
export function TokenSecretDialog({
  made,
  onClose,
}: {
  readonly made: CreateServiceTokenResponse;
  readonly onClose: () => void;
}) {
  const words = useWords(TOKENS_WORDS);
  return (
    <Dialog kept open onClose={onClose} title={words.made} about={words.madeAbout}>
      <Secret name={`${words.secret}: ${made.token?.name ?? ""}`} text={made.secret} about={words.headerAbout} />
      <Button look="action" onClick={onClose} className="self-end">
        {words.kept}
      </Button>
    </Dialog>
  );
}
