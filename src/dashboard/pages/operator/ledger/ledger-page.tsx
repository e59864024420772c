import { useSearch } from "@tanstack/react-router";
import { useMessages } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { useChangeAddress } from "../components/address.ts";
import { LEDGER_MESSAGES } from "./ledger-messages.ts";
import { Postings } from "./postings.tsx";
import { TrialBalance } from "./trial-balance.tsx";

/** The books: every posting, and their sums. */
export function LedgerPage() {
  const messages = useMessages(LEDGER_MESSAGES);
  const change = useChangeAddress();
  const { view } = useSearch({ from: "/inside/operator/ledger" });
  return (
    <Page
      title={messages.title}
      about={messages.about}
      actions={
        <Segments
          label={messages.view}
          value={view === "trial" ? "trial" : "postings"}
          choices={[
            { value: "postings", label: messages.postings },
            { value: "trial", label: messages.trial },
          ]}
          onChange={(next) => change({ view: next === "trial" ? next : undefined })}
        />
      }
    >
      {view === "trial" ? <TrialBalance /> : <Postings />}
    </Page>
  );
}
