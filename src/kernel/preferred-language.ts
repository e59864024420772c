import Negotiator from "negotiator";

/** The languages of texts that a browser is shown without the dashboard, first the one for readers of others. */
const LANGUAGES = ["en", "id"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The language that an Accept-Language header prefers. English, where it names others only: more of their readers know it.
 * `whenNone` where it names none.
 */
export function preferredLanguage(acceptLanguage: string | undefined, whenNone: Language = "id"): Language {
  const negotiator = new Negotiator({ headers: { "accept-language": acceptLanguage } });
  if (negotiator.languages().every((language) => language === "*")) return whenNone;
  return negotiator.language(LANGUAGES) === "id" ? "id" : "en";
}
