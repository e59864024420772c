// Accounts by the e-mail addresses of their owners, and the filter of lists by one account.

import { Link } from "@tanstack/react-router";
import { useMessages } from "../../../i18n/language.tsx";
import { Mono, ShortId } from "../../../components/facts.tsx";
import { TextField } from "../../../components/field.tsx";
import { Empty } from "../../../components/states.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useAccountName, type NamedAccount } from "./account-names.ts";
import { UUID_PATTERN } from "./amounts.ts";
import type { Paged } from "./rows.tsx";

type AccountProps = { readonly id: string };

/** The address of an account's owner; its id is shown on hover, and until the address is loaded. */
export function AccountName({ id }: AccountProps) {
  const email = useAccountName(id);
  return email === undefined ? (
    <ShortId id={id} />
  ) : (
    <span title={id} className="wrap-anywhere">
      {email}
    </span>
  );
}

/** The same as a link to the account's page. */
export function AccountLink({ id }: AccountProps) {
  return (
    <Link
      to="/operator/accounts/$accountId"
      params={{ accountId: id }}
      className="inline-flex min-h-6 items-center underline underline-offset-2"
    >
      <AccountName id={id} />
    </Link>
  );
}

/** The link with the whole id below it, where there is room. */
export function AccountWithId({ id }: AccountProps) {
  return (
    <>
      <AccountLink id={id} />
      <span className="block text-xs text-muted">
        <Mono>{id}</Mono>
      </span>
    </>
  );
}

/** The filter: an owner's address, or an account's id. */
export function AccountFilter({ className = "w-full sm:w-80" }: { readonly className?: string }) {
  const messages = useMessages(OPERATOR_MESSAGES);
  return (
    <TextField
      name="account"
      label={messages.accountFilter}
      pattern={`${UUID_PATTERN}|[^@\\s]+@[^@\\s]+`}
      maxLength={LONGEST_EMAIL}
      autoCapitalize="off"
      className={className}
    />
  );
}

const LONGEST_EMAIL = 320;

/** A list's query and rows behind its filter by account: an unknown address finds nothing. */
export function behindAccount<Query extends Paged, Row>(
  account: NamedAccount,
  query: Query,
  rows: readonly Row[] | undefined,
): { readonly query: Query; readonly rows: readonly Row[] | undefined } {
  if (account.isReady) return { query, rows };
  const { error, refetch } = account;
  // The rows of all accounts may still be there: they would be shown under the filter.
  return { query: { ...query, error, refetch, hasNextPage: false }, rows: account.isUnknown ? [] : undefined };
}

/** The empty list of an address that no account has. */
export function NoSuchAccount() {
  const messages = useMessages(OPERATOR_MESSAGES);
  return <Empty title={messages.noSuchAccount}>{messages.noSuchAccountAbout}</Empty>;
}
