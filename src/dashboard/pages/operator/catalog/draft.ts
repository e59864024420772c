// A draft of the catalog. It stays in the browser of whoever writes it, with the version it was made from, so that neither a
// reload nor a closed tab loses it and nobody's publication is undone unseen.

import { useState } from "react";
import { keep } from "../../../i18n/language.tsx";

export type Draft = { readonly yaml: string; readonly base: number };

const KEPT_AS = "saldo.catalog-draft";

/** The draft that is kept, and how to keep or forget one. Null: there is none. */
export function useDraft(): readonly [Draft | null, (draft: Draft | null) => void] {
  const [draft, setDraft] = useState(readDraft);
  return [
    draft,
    (next) => {
      keepDraft(next);
      setDraft(next);
    },
  ];
}

/** Keeps a draft for whichever page opens next. */
export function keepDraft(draft: Draft | null): void {
  keep(KEPT_AS, draft === null ? "" : JSON.stringify(draft));
}

/** Reads what was kept. What makes no sense is as if there were none. */
export function readDraft(): Draft | null {
  try {
    return fromText(localStorage.getItem(KEPT_AS) ?? "");
  } catch {
    return null; // a private window, or something else wrote there
  }
}

function fromText(text: string): Draft | null {
  if (text === "") return null;
  const kept: unknown = JSON.parse(text);
  if (typeof kept !== "object" || kept === null || !("yaml" in kept) || !("base" in kept)) return null;
  const { yaml, base } = kept;
  return typeof yaml === "string" && typeof base === "number" ? { yaml, base } : null;
}
