import { useWords } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { AdmissionCard } from "./admission-card.tsx";
import { AuditsCard } from "./audits-card.tsx";
import { SERVICE_WORDS } from "./service-words.ts";
import { SettingsCard } from "./settings-card.tsx";

/** What holds for everybody, and whether the books are in order. */
export function ServicePage() {
  const words = useWords(SERVICE_WORDS);
  return (
    <Page title={words.title} about={words.about}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <AdmissionCard />
        <SettingsCard />
      </div>
      <AuditsCard />
    </Page>
  );
}
