// A button for a small file that the server makes in one piece.

import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { useNotify } from "./notices.tsx";
import { saveFile } from "./save-file.ts";

/** A file as the server answers it. */
export type AnsweredFile = { readonly content: Uint8Array; readonly mediaType: string; readonly fileName: string };

export type FileButtonProps = {
  /** The accessible name, which has the name of the file. */
  readonly label: string;
  readonly children: string;
  /** Shown where the file could not be made. */
  readonly failed: string;
  readonly file: () => Promise<AnsweredFile>;
};

/** Fetches the file when it is pressed, and saves it under its name. */
export function FileButton({ label, children, failed, file }: FileButtonProps) {
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const { content, mediaType, fileName } = await file();
      saveFile(new Blob([new Uint8Array(content)], { type: mediaType }), fileName);
    } catch {
      notify(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<Download aria-hidden />} busy={isBusy} aria-label={label} onClick={() => void download()}>
      {children}
    </Button>
  );
}
