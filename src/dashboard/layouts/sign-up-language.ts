// The language of a sign-up becomes that of the account's mails, once the account is there.

import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Language as LanguageOfMails, type Settings } from "#gen/saldo/accounts/v1/person_pb.ts";
import { keep, type Language } from "../i18n/language.tsx";

const KEPT_AS = "saldo.sign-up-language";

/** Stores it until the person is signed in. */
export function rememberSignUpLanguage(language: Language): void {
  keep(KEPT_AS, language);
}

/** Saves the stored language in the settings of a new account. Settings that are saved later are the person's own. */
export function useSignUpLanguage(settings: Settings | undefined): void {
  const queries = useQueryClient();
  const { mutate } = useMutation(AccountsService.method.updateSettings, {
    onSuccess: () => {
      forget();
      const queryKey = createConnectQueryKey({ schema: AccountsService.method.getMe, cardinality: "finite" });
      void queries.invalidateQueries({ queryKey });
    },
  });
  useEffect(() => {
    if (settings === undefined) return;
    const kept = stored();
    if (kept === null) return;
    const language = kept === "en" ? LanguageOfMails.ENGLISH : LanguageOfMails.INDONESIAN;
    if (language === settings.language) forget();
    else mutate({ language });
  }, [settings, mutate]);
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null; // a private window that refuses storage has stored nothing
  }
}

function forget(): void {
  localStorage.removeItem(KEPT_AS);
}
