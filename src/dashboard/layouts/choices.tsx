// The reader's preferences, at the upper right of every page: language and theme.

import { Moon, Sun } from "lucide-react";
import { type Language, useLanguage, useMessages, type Messages } from "../i18n/language.tsx";
import { useTheme } from "../i18n/theme.ts";
import { IconButton } from "../components/button.tsx";
import { Segments } from "../components/segments.tsx";

const MESSAGES = {
  id: { language: "Bahasa", light: "Tampilan terang", dark: "Tampilan gelap" },
  en: { language: "Language", light: "Light theme", dark: "Dark theme" },
} satisfies Messages<Record<string, string>>;

const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: "id", label: "ID" },
  { value: "en", label: "EN" },
];

/** Language and theme. */
export function Choices() {
  const messages = useMessages(MESSAGES);
  const { language, choose } = useLanguage();
  const { theme, turn } = useTheme();
  return (
    <div className="flex items-center gap-2">
      <Segments label={messages.language} value={language} choices={LANGUAGES} onChange={choose} />
      <IconButton label={theme === "dark" ? messages.light : messages.dark} onClick={turn}>
        {theme === "dark" ? <Sun aria-hidden /> : <Moon aria-hidden />}
      </IconButton>
    </div>
  );
}
