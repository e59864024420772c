// The payment methods that providers saved for accounts: one for each account. A token can be charged, so it is stored encrypted, and a
// removed method has none. No number of a card is stored; a label has the last digits alone.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import type { SecretColumns } from "../../database/secrets/secret-columns.ts";
import { readSecretForm } from "../../database/secrets/secret-state.ts";
import { withTransaction } from "../../database/transactions.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { openText, sealText } from "../../kernel/sealed-text.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import type { SavedMethod } from "../payments/payment-provider.ts";
import type { TopUp } from "../top-ups/top-up.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const READ = `
SELECT id AS "methodId", provider, label, created_at AS "createdAt" FROM payment_method WHERE account_id = $1::uuid AND removed_at IS NULL`;
const TOKEN = `SELECT token FROM payment_method WHERE id = $1::uuid`;
const REMOVE = `
UPDATE payment_method SET token = NULL, removed_at = clock_timestamp() WHERE account_id = $1::uuid AND removed_at IS NULL RETURNING label`;
const TAKE_DUE = `
UPDATE top_up SET method_due_at = NULL WHERE id = $1::uuid AND method_due_at IS NOT NULL AND state = 'paid' RETURNING created_at AS "orderedAt"`;
const REMOVED_SINCE = `SELECT FROM payment_method WHERE account_id = $1::uuid AND removed_at > $2::timestamptz LIMIT 1`;
// A newer order has saved its method already: the one of an older order, which comes late, does not replace it. Removed ones are seen above.
const HAS_NEWER = `
SELECT FROM top_up late JOIN payment_method m ON m.account_id = late.account_id AND m.removed_at IS NULL AND m.created_at > late.created_at
WHERE late.id = $1::uuid AND EXISTS (
  SELECT FROM top_up t WHERE t.account_id = late.account_id AND t.saves_method AND t.created_at > late.created_at
    AND t.paid_at IS NOT NULL AND t.method_due_at IS NULL)`;
// An account that waits is looked at again: the method may be what it waited for.
const LOOK_AGAIN = `UPDATE auto_top_up SET not_before = NULL WHERE account_id = $1::uuid`;
const INSERT = `
INSERT INTO payment_method (id, account_id, provider, token, label) VALUES ($1::uuid, $2::uuid, $3, $4, $5)`;

/** A method as its owner sees it. */
export type ShownMethod = {
  readonly methodId: string;
  readonly provider: string;
  /** Such as `•••• 1114`. */
  readonly label: string;
  readonly createdAt: Date;
};

/** The tokens of methods. */
export const METHOD_SECRETS: SecretColumns = {
  table: "payment_method",
  id: "id",
  idType: "uuid",
  columns: ["token"],
  nameOf: (_column, methodId) => `payment_method.token/${methodId}`,
  formerIs: "sealed",
};

/** The method of an account. Null: it has none. */
export async function readMethod(client: Queryable, accountId: string): Promise<ShownMethod | null> {
  return (await client.query<ShownMethod>(READ, [accountId])).rows[0] ?? null;
}

/** The token of a method, to be charged. Null: the method was removed. Errors: SecretUnreadable. */
export async function openMethodToken(client: Queryable, methodId: string): Promise<string | null> {
  const stored = (await client.query<{ token: string | null }>(TOKEN, [methodId])).rows[0]?.token ?? null;
  return stored === null ? null : openText(METHOD_SECRETS.nameOf("token", methodId), stored);
}

/** Saves the method that paid an order, once, where that is due. */
export function saveDueMethod(
  database: Database,
  { topUpId, accountId, provider }: Pick<TopUp, "topUpId" | "accountId" | "provider">,
  method: SavedMethod,
): Promise<void> {
  return withTransaction(database, async (client) => {
    await lockAccount(client, accountId);
    const [due] = (await client.query<{ orderedAt: Date }>(TAKE_DUE, [topUpId])).rows;
    if (due !== undefined) await saveMethod(client, { topUpId, accountId, provider, orderedAt: due.orderedAt, method });
  });
}

/**
 * Stores the method that paid an order, in the place of the former one. The account is locked. Nothing is stored where a method was removed
 * since the order, or a newer order has saved its own: the payer agreed before that.
 */
async function saveMethod(
  client: PoolClient,
  {
    topUpId,
    accountId,
    provider,
    orderedAt,
    method,
  }: Pick<TopUp, "topUpId" | "accountId" | "provider"> & { orderedAt: Date; method: SavedMethod },
): Promise<void> {
  if ((await client.query(REMOVED_SINCE, [accountId, orderedAt])).rowCount !== 0) return;
  if ((await client.query(HAS_NEWER, [topUpId])).rowCount !== 0) return;
  await client.query(REMOVE, [accountId]);
  const methodId = uuidv7();
  const token = sealText(METHOD_SECRETS.nameOf("token", methodId), method.token, await readSecretForm(client));
  await client.query(INSERT, [methodId, accountId, provider, token, method.label]);
  await client.query(LOOK_AGAIN, [accountId]);
}

/** Removes the method of an account and erases its token. The account is locked. Returns its label; null: there was none. */
export async function eraseMethod(client: PoolClient, accountId: string): Promise<string | null> {
  return (await client.query<{ label: string }>(REMOVE, [accountId])).rows[0]?.label ?? null;
}
