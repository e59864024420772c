import { useMessages } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { AdmissionCard } from "./admission-card.tsx";
import { AuditsCard } from "./audits-card.tsx";
import { SERVICE_MESSAGES } from "./service-messages.ts";
import { SettingsCard } from "./settings-card.tsx";

/** Settings of the whole service, and the results of the audits. */
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
