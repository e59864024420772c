// Making a service token: its scopes are chosen, reviewed, and confirmed by a proof where the last one is old.

import { useState } from "react";
import { AccountsService, type CreateServiceTokenResponse } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Fact, Mono } from "../../../components/facts.tsx";
import { SelectField, TextField } from "../../../components/field.tsx";
import { Segments } from "../../../components/segments.tsx";
import { UUID_PATTERN } from "../components/amounts.ts";
import { CommandDialog, commandTexts, useCommand } from "../components/command.tsx";
import { Review } from "../components/review.tsx";
import { ScopesField } from "./scopes-field.tsx";
import { type ScopeName, SCOPES } from "./scopes.ts";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";

const LONGEST_NAME = 100;
/** The server allows at most 366. */
const LIFETIMES = ["7", "30", "90", "180", "366"] as const;

type Written = {
  readonly name: string;
  readonly reach: "one" | "all";
  readonly accountId: string;
  readonly scopes: readonly ScopeName[];
  readonly days: string;
};

const FIRST: Written = { name: "", reach: "one", accountId: "", scopes: ["read"], days: "90" };

type CreateTokenDialogProps = {
  readonly onMade: (made: CreateServiceTokenResponse) => void;
  readonly onClose: () => void;
};

/** The command that makes a token. Its answer has the secret, which goes only to `onMade`. */
export function CreateTokenDialog({ onMade, onClose }: CreateTokenDialogProps) {
  const messages = useMessages(TOKENS_MESSAGES);
  const create = useCommand(AccountsService.method.createServiceToken, { isSecret: true });
  const [written, setWritten] = useState<Written>(FIRST);
  const { name, reach, accountId, scopes, days } = written;
  const send = async () => {
    const made = await create.mutateAsync({
      name: name.trim(),
      accountId: reach === "all" ? "" : accountId.toLowerCase(),
      scopes: scopes.map((scope) => SCOPES[scope]),
      expiresInDays: Number(days),
    });
    onMade(made);
  };
  return (
    <CommandDialog
      {...commandTexts(messages, "create")}
      onClose={onClose}
      onCommand={send}
      review={() => <Reviewed written={written} />}
    >
      <TokenFields written={written} onChange={(change) => setWritten({ ...written, ...change })} />
    </CommandDialog>
  );
}

function TokenFields({
  written: { name, reach, accountId, scopes, days },
  onChange,
}: {
  readonly written: Written;
  readonly onChange: (change: Partial<Written>) => void;
}) {
  const messages = useMessages(TOKENS_MESSAGES);
  return (
    <>
      <TextField
        label={messages.name}
        hint={messages.nameHint}
        required
        // Spaces alone are refused, as by the server.
        pattern=".*\S.*"
        maxLength={LONGEST_NAME}
        autoComplete="off"
        value={name}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <div className="flex flex-col items-start gap-2">
        <Segments
          label={messages.reach}
          value={reach}
          choices={[
            { value: "one", label: messages.oneAccount },
            { value: "all", label: messages.allAccounts },
          ]}
          onChange={(value) => onChange({ reach: value })}
        />
        {reach === "all" ? (
          <p className="text-xs text-muted">{messages.allAbout}</p>
        ) : (
          <TextField
            label={messages.accountId}
            required
            pattern={UUID_PATTERN}
            autoComplete="off"
            className="w-full"
            value={accountId}
            onChange={({ target }) => onChange({ accountId: target.value.trim() })}
          />
        )}
      </div>
      <ScopesField chosen={scopes} onChange={(chosen) => onChange({ scopes: chosen })} />
      <Lifetime days={days} onChange={(chosen) => onChange({ days: chosen })} />
    </>
  );
}

function Lifetime({ days, onChange }: { readonly days: string; readonly onChange: (days: string) => void }) {
  const messages = useMessages(TOKENS_MESSAGES);
  return (
    <SelectField label={messages.expires} value={days} onChange={({ target }) => onChange(target.value)}>
      {LIFETIMES.map((lifetime) => (
        <option key={lifetime} value={lifetime}>
          {lifetime} {messages.days}
        </option>
      ))}
    </SelectField>
  );
}

function Reviewed({ written: { name, reach, accountId, scopes, days } }: { readonly written: Written }) {
  const messages = useMessages(TOKENS_MESSAGES);
  const formats = useFormats();
  return (
    <Review>
      <Fact name={messages.name}>{name.trim()}</Fact>
      <Fact name={messages.account}>{reach === "all" ? messages.allAccounts : <Mono>{accountId}</Mono>}</Fact>
      <Fact name={messages.scopes}>
        <strong className="font-semibold">{scopes.map((scope) => messages[scope]).join(", ")}</strong>
      </Fact>
      <Fact name={messages.expires}>
        {formats.count(Number(days))} {messages.days}
      </Fact>
    </Review>
  );
}
