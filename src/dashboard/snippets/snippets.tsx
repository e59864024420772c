// Code that calls a model, for the client the reader uses.

import { type ReactNode, useState } from "react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useMessages } from "../i18n/language.tsx";
import { CodeBlock } from "../components/copy.tsx";
import { SelectField } from "../components/field.tsx";
import { agentsCommand, baseUrlOf, CODING_AGENTS, type CodingAgent } from "./agents.ts";
import { apiUrlOf, exportLine, KEY_VARIABLE, type SnippetPlace, type SnippetRequest } from "./code.ts";
import { FIRST_PROGRAM, FORMATS, formatOf, LANGUAGES, type Program } from "./programs.ts";
import { SNIPPET_MESSAGES } from "./snippet-messages.ts";

const OTHER = "other";
/** Every program of every format, by the value of its choice. */
const PROGRAMS = FORMATS.flatMap(({ id: format, name }) =>
  LANGUAGES.map(({ id: language, name: languageName }) => ({
    value: `${format} ${language}`,
    name: `${languageName} (${name})`,
    program: { format, language } satisfies Program,
  })),
);

type SnippetsProps = {
  readonly model: Model;
  /** The new key; null where it is not known. */
  readonly secret?: string | null;
  /** Content beside the choice of the client. */
  readonly beside?: ReactNode;
};

/** A choice of clients, with the code to copy for each. */
export function Snippets({ model, secret = null, beside }: SnippetsProps) {
  const messages = useMessages(SNIPPET_MESSAGES);
  const [client, setClient] = useState<string>(`${FIRST_PROGRAM.format} ${FIRST_PROGRAM.language}`);
  const place = { origin: window.location.origin, secret };
  const request = { model: model.id, messages: [{ role: "user", content: messages.hello } as const] };
  const agent = CODING_AGENTS.find(({ id }) => id === client);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className={`grid gap-4 ${beside === undefined ? "" : "sm:grid-cols-2"}`}>
        {beside}
        <SelectField label={messages.client} value={client} onChange={({ target }) => setClient(target.value)}>
          <optgroup label={messages.code}>
            {PROGRAMS.map(({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </optgroup>
          <optgroup label={messages.agents}>
            {CODING_AGENTS.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
          <optgroup label={messages.other}>
            <option value={OTHER}>{messages.otherClient}</option>
          </optgroup>
        </SelectField>
      </div>
      {agent === undefined ? (
        client === OTHER ? (
          <OtherClient model={model} place={place} />
        ) : (
          <ProgramCode
            program={PROGRAMS.find(({ value }) => value === client)?.program ?? FIRST_PROGRAM}
            request={request}
            place={place}
          />
        )
      ) : (
        <AgentSteps agent={agent} model={model} place={place} />
      )}
    </div>
  );
}

/** The same request as one of the programs. */
export function ProgramCode({
  program,
  request,
  place,
}: {
  readonly program: Program;
  readonly request: SnippetRequest;
  readonly place: SnippetPlace;
}) {
  const messages = useMessages(SNIPPET_MESSAGES);
  const { name, code } = formatOf(program.format);
  const isCommand = program.language === "curl";
  // A command contains the key and runs as it is; a program is saved, and must not contain the key.
  const isWhole = isCommand && place.secret !== null;
  return (
    <>
      {isWhole ? null : (
        <Step title={messages.keyVariable}>
          <CodeBlock code={exportLine(place.secret)} what={messages.keyVariable} />
        </Step>
      )}
      <Step title={isCommand ? messages.command : messages.program}>
        <CodeBlock code={code[program.language](request, place)} what={name} />
      </Step>
    </>
  );
}

type ClientProps = { readonly model: Model; readonly place: SnippetPlace };

function AgentSteps({ agent, model, place }: ClientProps & { readonly agent: CodingAgent }) {
  const messages = useMessages(SNIPPET_MESSAGES);
  return (
    <>
      <Step title={messages.oneCommand} about={messages.oneCommandAbout}>
        <CodeBlock code={agentsCommand(agent, model, place)} what={messages.oneCommand} />
      </Step>
      <details className="min-w-0">
        <summary className="py-1 font-medium">{messages.byHand}</summary>
        <div className="mt-3 flex min-w-0 flex-col gap-4">
          <Values model={model} baseUrl={baseUrlOf(agent, place.origin)} />
          {agent.needsKeyInFile ? (
            <p className="text-muted">{messages.keyInFile}</p>
          ) : (
            <Step title={messages.keyVariable}>
              <CodeBlock code={exportLine(place.secret)} what={messages.keyVariable} />
            </Step>
          )}
          {agent.files(model, place).map(({ path, content }) => (
            <Step
              key={path}
              title={
                <>
                  {messages.addTo} <code className="font-mono break-all">{path}</code>
                </>
              }
            >
              <CodeBlock code={content} what={path} />
            </Step>
          ))}
          <p className="text-muted">{messages.restart}</p>
        </div>
      </details>
    </>
  );
}

function OtherClient({ model, place }: ClientProps) {
  const messages = useMessages(SNIPPET_MESSAGES);
  return (
    <>
      <p className="text-muted">{messages.otherAbout}</p>
      <Values model={model} baseUrl={apiUrlOf(place.origin)} />
      <Step title={messages.keyVariable}>
        <CodeBlock code={exportLine(place.secret)} what={messages.keyVariable} />
      </Step>
      <p className="text-muted">{messages.restart}</p>
    </>
  );
}

/** The values that any client needs, by their usual names. */
function Values({ model, baseUrl }: { readonly model: Model; readonly baseUrl: string }) {
  const messages = useMessages(SNIPPET_MESSAGES);
  const rows = [
    { name: messages.baseUrl, value: baseUrl },
    { name: messages.keyFrom, value: KEY_VARIABLE },
    { name: messages.modelId, value: model.id },
  ];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {rows.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="font-mono text-[0.8125rem] break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Step({
  title,
  about,
  children,
}: {
  readonly title: ReactNode;
  readonly about?: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="text-[0.8125rem] font-medium">{title}</p>
      {about === undefined ? null : <p className="text-xs text-muted">{about}</p>}
      {children}
    </div>
  );
}
