import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Language as LanguageOfMails, type Settings } from "#gen/saldo/accounts/v1/person_pb.ts";
import { type Language, useLanguage, useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** The language: the page's, which changes as soon as it is saved, and that of mails, which may still differ. */
export function PreferencesCard({ settings }: { readonly settings: Settings }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const { language, choose } = useLanguage();
  const notify = useNotify();
  const queries = useQueryClient();
  // Until one is chosen here, this is the page's language, whether it was set here or at the top of the page.
  const [own, setOwn] = useState<Language | null>(null);
  const chosen = own ?? language;
  const ofMails = settings.language === LanguageOfMails.ENGLISH ? "en" : "id";
  const { mutate, error, isPending } = useMutation(AccountsService.method.updateSettings, {
    onSuccess: () => {
      choose(chosen);
      setOwn(null);
      notify(messages.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AccountsService.method.getMe, cardinality: "finite" }),
      });
    },
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ language: chosen === "en" ? LanguageOfMails.ENGLISH : LanguageOfMails.INDONESIAN });
  };
  return (
    <form onSubmit={save} className="flex flex-col gap-4">
      <SelectField
        label={messages.language}
        {...(chosen === ofMails ? {} : { hint: messages.mailsStill })}
        value={chosen}
        onChange={({ target }) => setOwn(target.value === "en" ? "en" : "id")}
      >
        <option value="id">Bahasa Indonesia</option>
        <option value="en">English</option>
      </SelectField>
      <p className="text-xs text-muted">{messages.zone}</p>
      <NotSaved error={error} />
      <Button type="submit" busy={isPending} className="self-start">
        {messages.save}
      </Button>
    </form>
  );
}
