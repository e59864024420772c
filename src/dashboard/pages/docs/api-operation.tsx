// One operation of the API reference: how it is called, what it takes and what it answers.

import { Fragment, type ReactNode, useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import {
  type Answer,
  type ApiDocument,
  type Contents,
  curlOf,
  examplesOf,
  fieldsOf,
  type Operation,
  resolve,
  type Schema,
  typeOf,
} from "./api-document.ts";
import { API_MESSAGES } from "./api-messages.ts";
import { DocTable } from "./doc-table.tsx";

const BOUNDS = "digits font-mono text-xs text-muted";

type InDocument = { readonly document: ApiDocument };

/** The whole operation. */
export function ApiOperation({ document, operation }: InDocument & { readonly operation: Operation }) {
  const messages = useMessages(API_MESSAGES);
  const { verb, path, summary, description = "", security = [], parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses);
  const good = answers.filter(([status]) => status.startsWith("2"));
  const bad = answers.filter(([status]) => !status.startsWith("2"));
  return (
    <article className="flex min-w-0 flex-col gap-5">
      <header className="flex flex-col gap-2">
        <h2 lang="en" className="text-lg font-semibold tracking-tight">
          {summary}
        </h2>
        <p className="flex flex-wrap items-center gap-2">
          <Verb verb={verb} /> <code className="font-mono text-[0.8125rem] break-all">{path}</code>
        </p>
        <Prose text={description} />
        <p className="text-muted">{security.some((scheme) => "basic" in scheme) ? messages.pair : messages.key}</p>
      </header>
      <Part title={messages.request}>
        <CodeBlock code={curlOf(document, operation, window.location.origin)} what={messages.request} />
      </Part>
      {parameters.length === 0 ? null : (
        <Part title={messages.parameters}>
          <DocTable
            narrow
            label={messages.parameters}
            head={[messages.field, messages.about_field]}
            rows={parameters.map(({ name, in: place, required, description: about = "", schema = {} }) => [
              <FieldName
                key="name"
                name={name}
                type={`${messages.in[place as keyof typeof messages.in] ?? place}, ${typeOf(document, schema)}`}
                required={required === true}
              />,
              <Prose key="about" text={about} />,
            ])}
          />
        </Part>
      )}
      {requestBody === undefined ? null : (
        <Part title={messages.body}>
          <ContentFields document={document} contents={requestBody.content} />
        </Part>
      )}
      {good.map(([status, answer]) => (
        <Part key={status} title={`${messages.answer} ${status}`}>
          <GoodAnswer document={document} answer={answer} />
        </Part>
      ))}
      {bad.length === 0 ? null : (
        <Part title={messages.errors}>
          <DocTable
            narrow
            label={messages.errors}
            head={[messages.status, messages.meaning]}
            rows={bad.map(([status, { description: about }]) => [status, <Prose key="about" text={about} />])}
          />
        </Part>
      )}
    </article>
  );
}

/** The method of an operation. */
export function Verb({ verb }: { readonly verb: string }) {
  return (
    <span
      className={`rounded-md px-1.5 py-0.5 font-mono text-xs font-semibold ${verb === "GET" ? "bg-info-soft text-info" : "bg-good-soft text-good"}`}
    >
      {verb}
    </span>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function GoodAnswer({ document, answer }: InDocument & { readonly answer: Answer }) {
  return (
    <>
      <Prose text={answer.description} />
      {answer.content === undefined ? null : <ContentFields document={document} contents={answer.content} />}
    </>
  );
}

function ContentFields({ document, contents }: InDocument & { readonly contents: Contents }) {
  const messages = useMessages(API_MESSAGES);
  return Object.entries(contents).map(([type, content]) => (
    <Fragment key={type}>
      <p>
        <code className="font-mono text-[0.8125rem] text-muted">{type}</code>
      </p>
      <Fields document={document} schema={content.schema ?? {}} label={type} />
      {examplesOf(document, content).map((example, index) => (
        // The examples never change while they are shown.
        // oxlint-disable-next-line react/no-array-index-key
        <CodeBlock key={index} code={JSON.stringify(example, null, 2)} what={`${messages.example} ${index + 1}`} />
      ))}
    </Fragment>
  ));
}

/** The fields of a schema. Those of a field inside are rendered when its line is opened: schemas may name themselves. */
function Fields({ document, schema, label }: InDocument & { readonly schema: Schema; readonly label: string }) {
  const messages = useMessages(API_MESSAGES);
  const fields = fieldsOf(document, schema);
  const { required = [] } = resolve(document, schema).schema;
  if (fields.length === 0) return null;
  return (
    <DocTable
      narrow
      label={label}
      head={[messages.field, messages.about_field]}
      rows={fields.map(([name, field]) => {
        const about = field.description ?? resolve(document, field).schema.description ?? "";
        return [
          <FieldName key="name" name={name} type={typeOf(document, field)} required={required.includes(name)} />,
          <div key="about" className="flex min-w-0 flex-col gap-2">
            <Prose text={about} />
            <Bounds schema={field} />
            <Inner document={document} schema={field} name={name} />
          </div>,
        ];
      })}
    />
  );
}

function Inner({ document, schema, name }: InDocument & { readonly schema: Schema; readonly name: string }) {
  const messages = useMessages(API_MESSAGES);
  const [isOpen, setOpen] = useState(false);
  if (fieldsOf(document, schema).length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="py-1 font-medium">
        {messages.fields} <code className="font-mono text-[0.8125rem]">{name}</code>
      </summary>
      {isOpen ? (
        <div className="mt-2">
          <Fields document={document} schema={schema} label={name} />
        </div>
      ) : null}
    </details>
  );
}

type FieldNameProps = { readonly name: string; readonly type: string; readonly required: boolean };

function FieldName({ name, type, required }: FieldNameProps) {
  const messages = useMessages(API_MESSAGES);
  return (
    <>
      <code className="font-mono text-[0.8125rem]">{name}</code>
      <span className="block text-xs text-muted">{type}</span>
      {required ? <span className="block text-xs font-medium text-warn">{messages.required}</span> : null}
    </>
  );
}

/** The largest value of a field without a limit of its own. */
const MOST_OF_32_BITS = 4_294_967_295;

/** The values of a choice, or the smallest and largest value, length or number of items. */
function Bounds({ schema }: { readonly schema: Schema }) {
  const messages = useMessages(API_MESSAGES);
  if (schema.enum !== undefined) return <p className={BOUNDS}>{schema.enum.map(String).join(" · ")}</p>;
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const ranges = [
    { least: minimum, most: maximum === MOST_OF_32_BITS ? undefined : maximum, unit: "" },
    { least: minLength, most: maxLength, unit: messages.characters },
    { least: minItems, most: maxItems, unit: messages.items },
  ].filter(({ least, most }) => most !== undefined || (least ?? 0) > 0);
  return ranges.map(({ least, most, unit }) => (
    <p key={unit} className={BOUNDS}>
      {[least === undefined ? "" : `≥ ${least}`, most === undefined ? "" : `≤ ${most}`].filter(Boolean).join(", ")}{" "}
      {unit}
    </p>
  ));
}

/** Sentences of a contract: paragraphs, with code between backticks. */
function Prose({ text }: { readonly text: string }) {
  return text.split("\n\n").map((paragraph, index) =>
    paragraph === "" ? null : (
      // oxlint-disable-next-line react/no-array-index-key
      <p key={index} lang="en" className="max-w-prose wrap-anywhere">
        {paragraph.split("`").map((part, place) =>
          place % 2 === 0 ? (
            part
          ) : (
            // oxlint-disable-next-line react/no-array-index-key
            <code key={place} className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.8125rem]">
              {part}
            </code>
          ),
        )}
      </p>
    ),
  );
}
