import { createHash } from "node:crypto";

const LENGTH = 32;

/** Stands for a customer at providers: always the same for an account, and nothing of ours can be read from it. */
export function customerTag(accountId: string): string {
  return createHash("sha256").update(`saldo customer ${accountId}`).digest("hex").slice(0, LENGTH);
}
