// The two languages of the dashboard. A page keeps its messages in its own folder, both languages together, so that a
// missing translation does not compile. Indonesian comes first.

import { createContext, type ReactNode, use, useCallback, useMemo, useState } from "react";

export type Language = "id" | "en";

/** The messages of one page or component in both languages; `en` must have every key of `id`. */
export type Messages<Entries> = { readonly id: Entries; readonly en: Entries };

type Choice = { readonly language: Language; readonly choose: (language: Language) => void };

const LanguageContext = createContext<Choice>({ language: "id", choose: () => {} });
const KEPT_AS = "saldo.language";

/** Provides the language to the components below, and stores the choice for the next visit. */
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

/** The chosen language, and a function to change it. */
export function useLanguage(): Choice {
  return use(LanguageContext);
}

/** The messages of a page in the chosen language. */
export function useMessages<Entries>(messages: Messages<Entries>): Entries {
  return messages[useLanguage().language];
}

/** Stores a choice where the browser allows it; otherwise the choice lasts as long as the page. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Private windows may refuse storage; only the choice is lost.
  }
}
