import { useMessages, type Messages } from "../../../i18n/language.tsx";
import { Mono } from "../../../components/facts.tsx";
import { CLASS_MESSAGES, POSTING_REASON_MESSAGES } from "./book-messages.ts";

type NamedProps = { readonly name: string };

/** The reason of a posting, in words and by its name in the books. */
export function ReasonName({ name }: NamedProps) {
  return <Named name={name} messages={POSTING_REASON_MESSAGES} />;
}

/** The class of a ledger account, in words and by its name in the books. */
export function ClassName({ name }: NamedProps) {
  return <Named name={name} messages={CLASS_MESSAGES} />;
}

/** The same within a line: its name in the books is shown on hover. */
export function ClassWord({ name }: NamedProps) {
  const label: Readonly<Record<string, string>> = useMessages(CLASS_MESSAGES);
  return <span title={name}>{label[name] ?? name}</span>;
}

function Named({ name, messages }: NamedProps & { readonly messages: Messages<Readonly<Record<string, string>>> }) {
  const label = useMessages(messages)[name];
  return label === undefined ? (
    <Mono>{name}</Mono>
  ) : (
    <>
      <span>{label}</span>{" "}
      <span className="text-xs text-muted">
        <Mono>{name}</Mono>
      </span>
    </>
  );
}
