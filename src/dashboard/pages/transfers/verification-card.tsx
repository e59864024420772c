import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Segments } from "../../components/segments.tsx";
import { CALLBACK_MESSAGES } from "./callback-messages.ts";
import { type ExampleLanguage, VERIFICATION_CODE } from "./verification-code.ts";

const LANGUAGES: readonly { readonly value: ExampleLanguage; readonly label: string }[] = [
  { value: "node", label: "Node.js" },
  { value: "python", label: "Python" },
];

/** How a receiver verifies that a callback is ours. */
export function VerificationCard() {
  const messages = useMessages(CALLBACK_MESSAGES);
  const [language, setLanguage] = useState<ExampleLanguage>("node");
  return (
    <Card
      title={messages.verify}
      aside={<Segments label={messages.language} value={language} choices={LANGUAGES} onChange={setLanguage} />}
    >
      <p className="max-w-prose pb-3 text-muted">{messages.verifyAbout}</p>
      <CodeBlock what={messages.verify} code={VERIFICATION_CODE[language]} />
    </Card>
  );
}
