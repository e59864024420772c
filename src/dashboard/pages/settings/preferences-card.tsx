import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Language as LanguageOfMails, type Settings } from "#gen/saldo/accounts/v1/person_pb.ts";
import { useLanguage, useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { SelectField } from "../../parts/field.tsx";
import { useNotify } from "../../parts/notices.tsx";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_WORDS } from "./settings-words.ts";

const ZONES = ["Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura", "Asia/Singapore", "UTC"];

/** The language, which the page speaks at once when it is saved, and the zone. */
export function PreferencesCard({ settings }: { readonly settings: Settings }) {
  const words = useWords(SETTINGS_WORDS);
  const { speak } = useLanguage();
  const notify = useNotify();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState(settings.language === LanguageOfMails.ENGLISH ? "en" : "id");
  const [timeZone, setTimeZone] = useState(settings.timeZone);
  const { mutate, error, isPending } = useMutation(AccountsService.method.updateSettings, {
    onSuccess: () => {
      speak(chosen === "en" ? "en" : "id");
      notify(words.saved);
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: AccountsService.method.getMe, cardinality: "finite" }),
      });
    },
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ language: chosen === "en" ? LanguageOfMails.ENGLISH : LanguageOfMails.INDONESIAN, timeZone });
  };
  return (
    <form onSubmit={save} className="flex flex-col gap-4">
      <SelectField label={words.language} value={chosen} onChange={({ target }) => setChosen(target.value)}>
        <option value="id">Bahasa Indonesia</option>
        <option value="en">English</option>
      </SelectField>
      <SelectField
        label={words.zone}
        hint={words.zoneHint}
        value={timeZone}
        onChange={({ target }) => setTimeZone(target.value)}
      >
        {[...new Set([...ZONES, settings.timeZone])].map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </SelectField>
      <NotSaved error={error} />
      <Button type="submit" busy={isPending} className="self-start">
        {words.save}
      </Button>
    </form>
  );
}
