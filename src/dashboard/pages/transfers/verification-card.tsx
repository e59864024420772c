import { useState } from "react";
import { useWords } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Segments } from "../../components/segments.tsx";
import { CALLBACK_WORDS } from "./callback-words.ts";
import { type ExampleLanguage, VERIFICATION_CODE } from "./verification-code.ts";

const LANGUAGES: readonly { readonly value: ExampleLanguage; readonly label: string }[] = [
  { value: "node", label: "Node.js" },
  { value: "python", label: "Python" },
];

/** How a receiver knows that a callback is ours. */
export function VerificationCard() {
  const words = useWords(CALLBACK_WORDS);
  const [language, setLanguage] = useState<ExampleLanguage>("node");
  return (
    <Card
      title={words.verify}
      aside={<Segments label={words.language} value={language} choices={LANGUAGES} onChange={setLanguage} />}
    >
      <p className="max-w-prose pb-3 text-muted">{words.verifyAbout}</p>
      <CodeBlock what={words.verify} code={VERIFICATION_CODE[language]} />
    </Card>
  );
}
