import { useWords, type Words } from "../../../i18n/language.tsx";
import { Mono } from "../../../components/facts.tsx";
import { CLASS_WORDS, POSTING_REASON_WORDS } from "./book-words.ts";

type NamedProps = { readonly name: string };

/** Why something was posted, for people, and as the books call it. */
export function ReasonName({ name }: NamedProps) {
  return <Named name={name} words={POSTING_REASON_WORDS} />;
}

/** Whose account it is, for people, and as the books call it. */
export function ClassName({ name }: NamedProps) {
  return <Named name={name} words={CLASS_WORDS} />;
}

/** The same within a line: its own name comes up when it is pointed at. */
export function ClassWord({ name }: NamedProps) {
  const said: Readonly<Record<string, string>> = useWords(CLASS_WORDS);
  return <span title={name}>{said[name] ?? name}</span>;
}

function Named({ name, words }: NamedProps & { readonly words: Words<Readonly<Record<string, string>>> }) {
  const said = useWords(words)[name];
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
