import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { Segments } from "../../components/segments.tsx";
import { FIRST_PROGRAM, FORMATS, LANGUAGES } from "../../snippets/programs.ts";
import { SNIPPET_MESSAGES } from "../../snippets/snippet-messages.ts";
import { ProgramCode } from "../../snippets/snippets.tsx";
import type { ShownRequest } from "./conversation.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";

type CodeDialogProps = { readonly shown: ShownRequest; readonly onClose: () => void };

const ABOUT = { sent: "codeOfSent", next: "codeOfNext", example: "codeOfExample" } as const;

/** A request of the playground, as code. */
export function CodeDialog({ shown: { kind, request }, onClose }: CodeDialogProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const { client, format: formatLabel } = useMessages(SNIPPET_MESSAGES);
  const [program, setProgram] = useState(FIRST_PROGRAM);
  return (
    <Dialog open wide onClose={onClose} title={messages.code} about={messages[ABOUT[kind]]}>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div className="flex flex-wrap items-end gap-3">
          <SelectField
            label={formatLabel}
            value={program.format}
            onChange={({ target }) => setProgram({ ...program, format: target.value })}
          >
            {FORMATS.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <Segments
            label={client}
            value={program.language}
            choices={LANGUAGES.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(language) => setProgram({ ...program, language })}
          />
        </div>
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
