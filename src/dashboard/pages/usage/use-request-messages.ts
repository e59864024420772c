import { useMessages } from "../../i18n/language.tsx";
import { REQUEST_MESSAGES } from "./request-messages.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** The messages of a sheet, and those that it shares with the list. */
export function useRequestMessages() {
  return { ...useMessages(USAGE_MESSAGES), ...useMessages(REQUEST_MESSAGES) };
}
