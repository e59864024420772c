import { useMessages } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { AdmissionCard } from "./admission-card.tsx";
import { AuditsCard } from "./audits-card.tsx";
import { SERVICE_MESSAGES } from "./service-messages.ts";
import { SettingsCard } from "./settings-card.tsx";

/** What holds for everybody, and whether the books are in order. */
export function ServicePage() {
  const messages = useMessages(SERVICE_MESSAGES);
  return (
    <Page title={messages.title} about={messages.about}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <AdmissionCard />
        <SettingsCard />
      </div>
      <AuditsCard />
    </Page>
  );
}
