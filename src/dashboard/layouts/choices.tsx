// The reader's own choices, at the upper right of every page: language and theme.

import { Moon, Sun } from "lucide-react";
import { type Language, useLanguage, useWords, type Words } from "../i18n/language.tsx";
import { useTheme } from "../i18n/theme.ts";
import { IconButton } from "../components/button.tsx";
import { Segments } from "../components/segments.tsx";

const WORDS = {
  id: { language: "Bahasa", light: "Tampilan terang", dark: "Tampilan gelap" },
  en: { language: "Language", light: "Light theme", dark: "Dark theme" },
} satisfies Words<Record<string, string>>;

const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: "id", label: "ID" },
  { value: "en", label: "EN" },
];

/** Language and theme. */
export function Choices() {
  const words = useWords(WORDS);
  const { language, speak } = useLanguage();
  const { theme, turn } = useTheme();
  return (
    <div className="flex items-center gap-2">
      <Segments label={words.language} value={language} choices={LANGUAGES} onChange={speak} />
      <IconButton label={theme === "dark" ? words.light : words.dark} onClick={turn}>
        {theme === "dark" ? <Sun aria-hidden /> : <Moon aria-hidden />}
      </IconButton>
    </div>
  );
}
