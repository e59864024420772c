import { useMessages, type Messages } from "../../../i18n/language.tsx";
import { Mono } from "../../../components/facts.tsx";
import { CLASS_MESSAGES, POSTING_REASON_MESSAGES } from "./book-messages.ts";

type NamedProps = { readonly name: string };

/** Why something was posted, for people, and as the books call it. */
export function ReasonName({ name }: NamedProps) {
  return <Named name={name} messages={POSTING_REASON_MESSAGES} />;
}

/** Whose account it is, for people, and as the books call it. */
export function ClassName({ name }: NamedProps) {
  return <Named name={name} messages={CLASS_MESSAGES} />;
}

/** The same within a line: its own name comes up when it is pointed at. */
export function ClassWord({ name }: NamedProps) {
  const said: Readonly<Record<string, string>> = useMessages(CLASS_MESSAGES);
  return <span title={name}>{said[name] ?? name}</span>;
}

function Named({ name, messages }: NamedProps & { readonly messages: Messages<Readonly<Record<string, string>>> }) {
  const said = useMessages(messages)[name];
  return said === undefined ? (
    <Mono>{name}</Mono>
  ) : (
    <>
      <span>{said}</span>{" "}
      <span className="text-xs text-muted">
        <Mono>{name}</Mono>
      </span>
    </>
  );
}
