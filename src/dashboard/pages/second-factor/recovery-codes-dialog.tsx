import { useMessages } from "../../i18n/language.tsx";
import { Button, buttonClass } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

type CodesProps = { readonly codes: readonly string[] | null; readonly onSaved: () => void };

/** Shows new recovery codes, once. Only its button closes it: the codes cannot be shown again. */
export function RecoveryCodesDialog({ codes, onSaved }: CodesProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const text = (codes ?? []).join("\n");
  return (
    <Dialog open={codes !== null} onClose={onSaved} kept title={messages.codesTitle} about={messages.codesAbout}>
      <ul aria-label={messages.codes} className="grid grid-cols-2 gap-2 rounded-lg bg-sunken p-4 font-mono text-sm">
        {(codes ?? []).map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <CopyButton text={text} what={messages.codes} />
        <a
          className={buttonClass()}
          download="saldo-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`Saldo\n${text}\n`)}`}
        >
          {messages.download}
        </a>
        <Button variant="action" onClick={onSaved}>
          {messages.savedCodes}
        </Button>
      </div>
    </Dialog>
  );
}
