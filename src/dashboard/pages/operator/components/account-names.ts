// The e-mail addresses of accounts' owners. Lists hold ids: all names that a page needs at the same time are read in one call.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@tanstack/react-query";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { transport } from "../../../api/transport.ts";

const accounts = createClient(AccountService, transport);

/** The contract's most ids in one call. */
const MOST_AT_ONCE = 100;
/** An owner's address changes hardly ever. */
const FRESH_MS = 5 * 60_000;

type Waiting = { readonly resolve: (email: string | null) => void; readonly reject: (error: unknown) => void };

/** The ids that wait for the next call. */
let waiting = new Map<string, Waiting[]>();

/** The owner's address of an account. Null: there is no such account. */
function nameOf(accountId: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    // Rows of one page ask within one turn of the event loop.
    if (waiting.size === 0) setTimeout(() => void askForAll());
    waiting.set(accountId, [...(waiting.get(accountId) ?? []), { resolve, reject }]);
  });
}

async function askForAll(): Promise<void> {
  const asked = [...waiting];
  waiting = new Map();
  const parts = Array.from({ length: Math.ceil(asked.length / MOST_AT_ONCE) }, (_, part) =>
    asked.slice(part * MOST_AT_ONCE, (part + 1) * MOST_AT_ONCE),
  );
  await Promise.all(
    parts.map(async (part) => {
      try {
        const named = await accounts.nameAccounts({ accountIds: part.map(([id]) => id) });
        const emails = new Map(named.accounts.map(({ id, email }) => [id, email]));
        for (const [id, waits] of part) for (const { resolve } of waits) resolve(emails.get(id) ?? null);
      } catch (error) {
        for (const [, waits] of part) for (const { reject } of waits) reject(error);
      }
    }),
  );
}

/** The owner's address of an account. Undefined: it is not loaded, or there is none. */
export function useAccountName(accountId: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["account name", accountId],
    queryFn: () => nameOf(accountId),
    staleTime: FRESH_MS,
    enabled: accountId !== "",
  });
  return data ?? undefined;
}

/** The account of a whole address. Null: there is none. */
async function accountOf(email: string): Promise<string | null> {
  return (await accounts.nameAccounts({ emails: [email] })).accounts[0]?.id ?? null;
}

/** The account that a filter names, by its id or by its owner's address. */
export type NamedAccount = {
  /** Empty: the filter names none, or it is not loaded. */
  readonly accountId: string;
  /** Whether a list can be read by it. */
  readonly isReady: boolean;
  /** Whether no account has the address. */
  readonly isUnknown: boolean;
  readonly error: unknown;
  readonly refetch: () => unknown;
};

/** Reads the account of a filter. A text that is no address goes to the server as it is. */
export function useNamedAccount(text = ""): NamedAccount {
  const isEmail = text.includes("@");
  const { data, error, refetch } = useQuery({
    queryKey: ["account of an address", text.toLowerCase()],
    queryFn: () => accountOf(text),
    staleTime: FRESH_MS,
    enabled: isEmail,
  });
  if (!isEmail) return { accountId: text, isReady: true, isUnknown: false, error: null, refetch };
  const accountId = data ?? "";
  return { accountId, isReady: accountId !== "", isUnknown: data === null, error, refetch };
}
