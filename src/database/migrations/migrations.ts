import { Migration0001Ledger } from "./0001-ledger.ts";
import { Migration0002Accounts } from "./0002-accounts.ts";
import { Migration0003Catalog } from "./0003-catalog.ts";
import { Migration0004Merchant } from "./0004-merchant.ts";

/** Every migration in the order in which they run. A migration that has landed is never edited. */
export const migrations = [
  { name: "0001-ledger", class: Migration0001Ledger },
  { name: "0002-accounts", class: Migration0002Accounts },
  { name: "0003-catalog", class: Migration0003Catalog },
  { name: "0004-merchant", class: Migration0004Merchant },
];
