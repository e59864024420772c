// How a key pair is sent. Text typed here stays in this page: the browser builds the header and sends it nowhere.

import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { TextField } from "../../components/field.tsx";
import { CREDENTIAL_MESSAGES } from "./credential-messages.ts";
import { useMerchantHere } from "./merchant-here.tsx";
import { apiBase, basicHeaderOf } from "./pair-dialog.tsx";

/** Builds the header from the two keys. */
export function BasicHeaderCard() {
  const messages = useMessages(CREDENTIAL_MESSAGES);
  const { environment } = useMerchantHere();
  const [apiKey, setApiKey] = useState("");
  const [secretKey, setSecretKey] = useState("");
  const isTyped = [apiKey, secretKey].every((half) => /^[!-~]+$/.test(half));
  const header = isTyped ? basicHeaderOf({ apiKey, secretKey }) : "Basic <base64(api_key:secret_key)>";
  return (
    <Card title={messages.header}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-muted">{messages.headerAbout}</p>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={messages.apiKey}
            autoComplete="off"
            spellCheck={false}
            value={apiKey}
            onChange={({ target }) => setApiKey(target.value.trim())}
          />
          <TextField
            label={messages.secretKey}
            type="password"
            autoComplete="off"
            value={secretKey}
            onChange={({ target }) => setSecretKey(target.value.trim())}
          />
        </div>
        <CodeBlock what={messages.header} code={`Authorization: ${header}`} />
        <CodeBlock
          what="curl"
          code={`curl ${apiBase(environment)}/merchant-balances \\\n  -H 'Authorization: ${header}'`}
        />
      </div>
    </Card>
  );
}
