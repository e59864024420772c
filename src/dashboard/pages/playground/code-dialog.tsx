import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Segments } from "../../components/segments.tsx";
import { FIRST_PROGRAM, LANGUAGES } from "../../snippets/programs.ts";
import { SNIPPET_MESSAGES } from "../../snippets/snippet-messages.ts";
import { ProgramCode } from "../../snippets/snippets.tsx";
import type { ShownRequest } from "./conversation.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

type CodeDialogProps = { readonly shown: ShownRequest; readonly onClose: () => void };

const ABOUT = { sent: "codeOfSent", next: "codeOfNext", example: "codeOfExample" } as const;

/** A request of the playground as code, in the format in which the playground sends it. */
export function CodeDialog({ shown: { kind, format, request }, onClose }: CodeDialogProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const { client } = useMessages(SNIPPET_MESSAGES);
  const [language, setLanguage] = useState(FIRST_PROGRAM.language);
  const place = { origin: window.location.origin, secret: null };
  return (
    <Dialog open wide onClose={onClose} title={messages.code} about={messages[ABOUT[kind]]}>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Segments
          label={client}
          value={language}
          choices={LANGUAGES.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setLanguage}
        />
        <LinkButton to="/keys" search={{ create: true }}>
          {messages.makeKey}
        </LinkButton>
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <ProgramCode program={{ format, language }} request={request} place={place} />
      </div>
    </Dialog>
  );
}
