// Customers: who a ledger account belongs to. Signing in, sessions and roles build on this.

import type { PoolClient } from "pg";
import { ValidationError } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { customerOfEmail, insertCustomer } from "./store.ts";

// The shape that every mail system accepts. Only a mail shows whether the address is read.
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,253}\.[^\s@.]{2,63}$/;

/** Whether a text has the shape of an e-mail address. */
export function isEmailAddress(text: string): boolean {
  return EMAIL.test(text);
}

/**
 * Makes a customer with an empty account, inside the caller's transaction; `openAccount` is the ledger's.
 * Errors: ValidationError when the text is no address, or the address is taken.
 */
export async function createCustomer(
  client: PoolClient,
  { email, openAccount }: { email: string; openAccount: (client: PoolClient, accountId: string) => Promise<void> },
): Promise<{ accountId: string }> {
  if (!isEmailAddress(email)) throw problem("email.shape", "must be an e-mail address");
  if ((await customerOfEmail(client, email)) !== null) throw problem("email.unique", "belongs to an account already");
  const accountId = uuidv7();
  await openAccount(client, accountId);
  await insertCustomer(client, { accountId, email });
  return { accountId };
}

function problem(rule: string, message: string): ValidationError {
  return new ValidationError([{ field: "email", rule, message }]);
}
