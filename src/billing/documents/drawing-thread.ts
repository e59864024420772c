// The thread that draws documents, one at a time, so that no request waits for a font to be read.

import { parentPort } from "node:worker_threads";
import { invariant } from "../../kernel/invariant.ts";
import type { Document } from "./document.ts";
import { drawDocument } from "./draw-document.ts";

/** An answer of the thread: the file, or why there is none. */
export type Drawn = { readonly id: number; readonly file?: Uint8Array; readonly error?: string };

const port = parentPort;
invariant(port !== null, "documents are drawn in a thread of their own");
port.on("message", ({ id, document }: { id: number; document: Document }) => {
  drawDocument(document).then(
    (file) => port.postMessage({ id, file } satisfies Drawn),
    (error: unknown) => port.postMessage({ id, error: String(error) } satisfies Drawn),
  );
});
