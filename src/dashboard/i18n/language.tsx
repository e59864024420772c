// The two languages of the dashboard. A page keeps its words beside itself, both languages together, so that a sentence that
// is missing in one does not compile. Indonesian comes first.

import { createContext, type ReactNode, use, useCallback, useMemo, useState } from "react";

export type Language = "id" | "en";

/** The words of one page or part in both languages; `en` must have every key of `id`. */
export type Words<Entries> = { readonly id: Entries; readonly en: Entries };

type Spoken = { readonly language: Language; readonly speak: (language: Language) => void };

const LanguageContext = createContext<Spoken>({ language: "id", speak: () => {} });
const KEPT_AS = "saldo.language";

/** Makes the language known to everything below, and keeps it for the next visit. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => (document.documentElement.lang === "en" ? "en" : "id"));
  const speak = useCallback((next: Language) => {
    document.documentElement.lang = next;
    keep(KEPT_AS, next);
    setLanguage(next);
  }, []);
  const spoken = useMemo(() => ({ language, speak }), [language, speak]);
  return <LanguageContext value={spoken}>{children}</LanguageContext>;
}

/** The language that is spoken, and how to change it. */
export function useLanguage(): Spoken {
  return use(LanguageContext);
}

/** The words of a page in the spoken language. */
export function useWords<Entries>(words: Words<Entries>): Entries {
  return words[useLanguage().language];
}

/** Remembers a choice where the browser lets us; without it the choice lasts as long as the page. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Private windows may refuse; nothing is lost but the memory of a choice.
  }
}
