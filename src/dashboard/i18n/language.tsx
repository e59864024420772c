// The two languages of the dashboard. A page keeps its messages beside itself, both languages together, so that a sentence that
// is missing in one does not compile. Indonesian comes first.

import { createContext, type ReactNode, use, useCallback, useMemo, useState } from "react";

export type Language = "id" | "en";

/** The messages of one page or component in both languages; `en` must have every key of `id`. */
export type Messages<Entries> = { readonly id: Entries; readonly en: Entries };

type Choice = { readonly language: Language; readonly choose: (language: Language) => void };

const LanguageContext = createContext<Choice>({ language: "id", choose: () => {} });
const KEPT_AS = "saldo.language";

/** Makes the language known to everything below, and keeps it for the next visit. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => (document.documentElement.lang === "en" ? "en" : "id"));
  const choose = useCallback((next: Language) => {
    document.documentElement.lang = next;
    keep(KEPT_AS, next);
    setLanguage(next);
  }, []);
  const choice = useMemo(() => ({ language, choose }), [language, choose]);
  return <LanguageContext value={choice}>{children}</LanguageContext>;
}

/** The chosen language, and how to change it. */
export function useLanguage(): Choice {
  return use(LanguageContext);
}

/** The messages of a page in the chosen language. */
export function useMessages<Entries>(messages: Messages<Entries>): Entries {
  return messages[useLanguage().language];
}

/** Remembers a choice where the browser lets us; without it the choice lasts as long as the page. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Private windows may refuse; nothing is lost but the memory of a choice.
  }
}
