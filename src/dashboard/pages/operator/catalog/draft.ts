// A draft of the catalog. It is stored in the operator's browser with the version it was made from: a reload or a
// closed tab does not lose it, and publishing cannot overwrite another version unseen.

import { useState } from "react";
import { keep } from "../../../i18n/language.tsx";

export type Draft = { readonly yaml: string; readonly base: number };

const KEPT_AS = "saldo.catalog-draft";

/** The stored draft, and functions to store and delete it. Null: there is none. */
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

/** Stores a draft for the next page that opens. */
export function keepDraft(draft: Draft | null): void {
  keep(KEPT_AS, draft === null ? "" : JSON.stringify(draft));
}

/** Reads the stored draft. An invalid one counts as none. */
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
