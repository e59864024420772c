import { useSearch } from "@tanstack/react-router";
import { useWords } from "../../../i18n/language.tsx";
import { Page } from "../../../components/page.tsx";
import { Segments } from "../../../components/segments.tsx";
import { useChangeAddress } from "../components/address.ts";
import { LEDGER_WORDS } from "./ledger-words.ts";
import { Postings } from "./postings.tsx";
import { TrialBalance } from "./trial-balance.tsx";

/** The books: every posting, and what they sum to. */
export function LedgerPage() {
  const words = useWords(LEDGER_WORDS);
  const change = useChangeAddress();
  const { view } = useSearch({ from: "/inside/operator/ledger" });
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={
        <Segments
          label={words.view}
          value={view === "trial" ? "trial" : "postings"}
          choices={[
            { value: "postings", label: words.postings },
            { value: "trial", label: words.trial },
          ]}
          onChange={(next) => change({ view: next === "trial" ? next : undefined })}
        />
      }
    >
      {view === "trial" ? <TrialBalance /> : <Postings />}
    </Page>
  );
}
