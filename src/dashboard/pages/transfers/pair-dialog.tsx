// A new pair of API key and secret key. It is shown only this once, so the dialog does not close by accident.

import { useMessages, type Messages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Secret } from "../../components/secret.tsx";
import type { EnvironmentName } from "./environment-names.ts";
import { EnvironmentBadge } from "./environments.tsx";

const MESSAGES = {
  id: {
    title: "Simpan pasangan kunci ini sekarang",
    about: "Kunci rahasia hanya ditampilkan sekali ini. Simpan di pengelola rahasia server Anda, jangan di kode.",
    apiKey: "Kunci API",
    secretKey: "Kunci rahasia",
    header: "Header Basic",
    headerAbout: "Gabungan kunci API, titik dua dan kunci rahasia dalam base64, siap dipakai.",
    attempt: "Coba dari terminal",
    kept: "Sudah saya simpan",
  },
  en: {
    title: "Keep this pair of keys now",
    about: "The secret key is shown only once. Keep it in your server's secret store, not in code.",
    apiKey: "API key",
    secretKey: "Secret key",
    header: "Basic header",
    headerAbout: "The API key, a colon and the secret key in base64, ready to be sent.",
    attempt: "Try it in a terminal",
    kept: "I have saved it",
  },
} satisfies Messages<Record<string, string>>;

/** A pair while it is shown. */
export type Pair = { readonly apiKey: string; readonly secretKey: string };

/** Shows the pair until the reader confirms that it is stored. */
export function PairDialog({
  pair,
  environment,
  onClose,
}: {
  readonly pair: Pair | null;
  readonly environment: EnvironmentName;
  readonly onClose: () => void;
}) {
  const messages = useMessages(MESSAGES);
  return (
    <Dialog kept open={pair !== null} onClose={onClose} title={messages.title} about={messages.about}>
      {pair === null ? null : (
        <>
          <div>
            <EnvironmentBadge environment={environment} />
          </div>
          <Secret name={messages.apiKey} text={pair.apiKey} />
          <Secret name={messages.secretKey} text={pair.secretKey} />
          <Secret name={messages.header} text={basicHeaderOf(pair)} about={messages.headerAbout} />
          <section className="flex min-w-0 flex-col gap-1.5">
            <h3 className="text-[0.8125rem] font-medium">{messages.attempt}</h3>
            <CodeBlock what={messages.attempt} code={curlOf(pair, environment)} />
          </section>
          <Button variant="action" onClick={onClose} className="self-end">
            {messages.kept}
          </Button>
        </>
      )}
    </Dialog>
  );
}

/** The `authorization` header of every request of a merchant. */
export function basicHeaderOf({ apiKey, secretKey }: Pair): string {
  return `Basic ${btoa(`${apiKey}:${secretKey}`)}`;
}

/** The base URL of the merchant's API. */
export function apiBase(environment: EnvironmentName): string {
  return `${window.location.origin}${environment === "sandbox" ? "/sandbox" : ""}/v1`;
}

function curlOf({ apiKey, secretKey }: Pair, environment: EnvironmentName): string {
  return `curl ${apiBase(environment)}/merchant-balances \\\n  -u '${apiKey}:${secretKey}'`;
}
