import { useWords } from "../../i18n/language.tsx";
import { Button, buttonClass } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FACTOR_WORDS } from "./second-factor-words.ts";

type CodesProps = { readonly codes: readonly string[] | null; readonly onSaved: () => void };

/** Shows new recovery codes, once. It closes by its button alone: what is lost here is lost. */
export function RecoveryCodesDialog({ codes, onSaved }: CodesProps) {
  const words = useWords(FACTOR_WORDS);
  const text = (codes ?? []).join("\n");
  return (
    <Dialog open={codes !== null} onClose={onSaved} kept title={words.codesTitle} about={words.codesAbout}>
      <ul aria-label={words.codes} className="grid grid-cols-2 gap-2 rounded-lg bg-sunken p-4 font-mono text-sm">
        {(codes ?? []).map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <CopyButton text={text} what={words.codes} />
        <a
          className={buttonClass()}
          download="saldo-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`Saldo\n${text}\n`)}`}
        >
          {words.download}
        </a>
        <Button look="action" onClick={onSaved}>
          {words.savedCodes}
        </Button>
      </div>
    </Dialog>
  );
}
