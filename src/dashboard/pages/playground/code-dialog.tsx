import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Segments } from "../../components/segments.tsx";
import type { SnippetRequest } from "../../snippets/code.ts";
import { SNIPPET_MESSAGES } from "../../snippets/snippet-messages.ts";
import { ProgramCode } from "../../snippets/snippets.tsx";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

/** The next request of the playground, as code. */
export function CodeDialog({ request, onClose }: { readonly request: SnippetRequest; readonly onClose: () => void }) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const { client } = useMessages(SNIPPET_MESSAGES);
  const [program, setProgram] = useState<"curl" | "node" | "python">("curl");
  return (
    <Dialog open wide onClose={onClose} title={messages.code} about={messages.codeAbout}>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segments
          label={client}
          value={program}
          choices={[
            { value: "curl", label: "curl" },
            { value: "node", label: "Node.js" },
            { value: "python", label: "Python" },
          ]}
          onChange={setProgram}
        />
        <LinkButton to="/keys" search={{ create: true }}>
          {messages.makeKey}
        </LinkButton>
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <ProgramCode program={program} request={request} place={{ origin: window.location.origin, secret: null }} />
      </div>
    </Dialog>
  );
}
