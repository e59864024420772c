import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Ban } from "lucide-react";
import type { ServiceToken } from "#gen/saldo/accounts/v1/person_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { IconButton } from "../../../components/button.tsx";
import type { Column } from "../../../components/table.tsx";
import { AccountLink } from "../components/account-name.tsx";
import { scopeNamesOf } from "./scopes.ts";
import { TOKENS_MESSAGES } from "./service-tokens-messages.ts";
import { stateOf, type TokenState } from "./token-state.ts";

const TONES = { working: "good", expired: "warn", revoked: "bad" } as const satisfies Record<TokenState, string>;

/** The columns of the list. Only a working token can be revoked. */
export function useTokenColumns(onRevoke: (token: ServiceToken) => void): readonly Column<ServiceToken>[] {
  const messages = useMessages(TOKENS_MESSAGES);
  const formats = useFormats();
  const date = (at: Timestamp | undefined) => (
    <span className="whitespace-nowrap">{at === undefined ? UNKNOWN : formats.date(timestampDate(at))}</span>
  );
  return [
    { key: "name", head: messages.name, cell: (token) => <NameCell token={token} /> },
    { key: "scopes", head: messages.scopes, wide: true, cell: (token) => <Scopes token={token} /> },
    { key: "account", head: messages.account, wide: true, cell: (token) => <Account token={token} /> },
    { key: "created", head: messages.created, wide: true, cell: ({ createdAt }) => date(createdAt) },
    { key: "expires", head: messages.expiresAt, wide: true, cell: ({ expiresAt }) => date(expiresAt) },
    {
      key: "used",
      head: messages.lastUsed,
      wide: true,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === undefined ? <span className="text-muted">{messages.never}</span> : date(lastUsedAt),
    },
    {
      key: "actions",
      head: <span className="sr-only">{messages.actions}</span>,
      acts: true,
      cell: (token) =>
        token.revokedAt === undefined ? (
          <IconButton label={`${messages.revoke}: ${token.name}`} onClick={() => onRevoke(token)}>
            <Ban aria-hidden />
          </IconButton>
        ) : null,
    },
  ];
}

/** The part of a token that can still be shown. */
export function maskedToken({ prefix, lastFour }: Pick<ServiceToken, "prefix" | "lastFour">): string {
  return `${prefix}…${lastFour}`;
}

/** On a narrow page, the content of the other columns is below the name. */
function NameCell({ token }: { readonly token: ServiceToken }) {
  const messages = useMessages(TOKENS_MESSAGES);
  const formats = useFormats();
  const { name, expiresAt } = token;
  const state = stateOf(token, Date.now());
  return (
    <>
      <span title={name} className="line-clamp-2 max-w-64 min-w-24 font-medium break-words max-sm:max-w-36">
        {name}
      </span>
      <span className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 md:flex-nowrap">
        <code className="font-mono text-xs whitespace-nowrap text-muted">{maskedToken(token)}</code>
        <Badge tone={TONES[state]}>{messages[state]}</Badge>
      </span>
      <span className="block text-xs text-muted md:hidden">
        <Scopes token={token} /> · <Account token={token} />
        <br />
        {messages.expiresAt}: {expiresAt === undefined ? UNKNOWN : formats.date(timestampDate(expiresAt))}
      </span>
    </>
  );
}

function Scopes({ token }: { readonly token: ServiceToken }) {
  const messages = useMessages(TOKENS_MESSAGES);
  return scopeNamesOf(token.scopes)
    .map((name) => messages[name])
    .join(", ");
}

function Account({ token: { accountId } }: { readonly token: ServiceToken }) {
  const messages = useMessages(TOKENS_MESSAGES);
  if (accountId === "") return messages.allAccounts;
  return <AccountLink id={accountId} />;
}
