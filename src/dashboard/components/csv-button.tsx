// A button for a file that the server streams and the browser saves.

import { Download } from "lucide-react";
import { useState } from "react";
import { useMessages, type Messages } from "../i18n/language.tsx";
import { Button } from "./button.tsx";
import { useNotify } from "./notices.tsx";
import { saveFile } from "./save-file.ts";

const MESSAGES = {
  id: { csv: "Ekspor CSV", failed: "CSV tidak bisa dibuat" },
  en: { csv: "Export CSV", failed: "The CSV could not be made" },
} satisfies Messages<Record<string, string>>;

/** Fetches the file when the button is pressed. */
export type CsvFile = { readonly name: string; readonly pieces: AsyncIterable<{ readonly csv: Uint8Array }> };

/** Fetches the file and saves it under its name. */
export function CsvButton({ file }: { readonly file: () => CsvFile }) {
  const messages = useMessages(MESSAGES);
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const { name, pieces } = file();
      const parts: BlobPart[] = [];
      for await (const { csv } of pieces) parts.push(new Uint8Array(csv));
      saveFile(new Blob(parts, { type: "text/csv;charset=utf-8" }), name);
    } catch {
      notify(messages.failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<Download aria-hidden />} busy={isBusy} onClick={() => void download()}>
      {messages.csv}
    </Button>
  );
}
