import Negotiator from "negotiator";

/** The languages of texts that a browser is shown without the dashboard, the usual one first. */
const LANGUAGES = ["id", "en"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language that an Accept-Language header prefers. Indonesian, where it prefers neither. */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const preferred = new Negotiator({ headers: { "accept-language": acceptLanguage } }).language(LANGUAGES);
  return preferred === "en" ? "en" : "id";
}
