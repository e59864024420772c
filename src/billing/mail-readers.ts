// Who gets a mail about an account. The caller knows people; billing knows which roles a mail is for.

import type { Language } from "../kernel/preferred-language.ts";

/** Roles of an account whose people get mails of billing. */
export type ReaderRole = "owner" | "admin" | "billing";

/** Whom a mail is for: people with these roles, and one more whatever the role. */
export type MailAudience = { readonly roles: readonly ReaderRole[]; readonly personId: string | null };

/** Mails about the money of an account: its balance, its top-ups and what a day has cost. */
export const MONEY_READERS: MailAudience = { roles: ["owner", "admin", "billing"], personId: null };

/** A person who gets a mail. `id` is the person, or the account where its customer has not signed up yet. */
export type MailReader = {
  readonly id: string;
  readonly email: string;
  readonly language: Language;
  /** Whether the person may change what is notified. */
  readonly mayChange: boolean;
};

/** Finds the readers of an account. None: it belongs to no person. */
export type ReadersOf = (accountId: string, audience: MailAudience) => Promise<readonly MailReader[]>;

type Mailing = {
  readonly readers: readonly MailReader[];
  /** Those who have had it, in an earlier try. */
  readonly mailed: readonly string[];
  /** Keeps that a reader has had it. */
  readonly note: (readerId: string) => Promise<unknown>;
  readonly send: (reader: MailReader) => Promise<void>;
  readonly mayGoOn: () => boolean;
};

/**
 * Sends a mail to each reader who has not had it. A failure stops no other mail; the errors are thrown at the end. False: it might not go on,
 * and readers are left.
 */
export async function mailEach({ readers, mailed, note, send, mayGoOn }: Mailing): Promise<boolean> {
  const failures: unknown[] = [];
  for (const reader of readers) {
    if (mailed.includes(reader.id)) continue;
    if (!mayGoOn()) return false;
    try {
      await send(reader);
      await note(reader.id);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} readers did not get a mail`);
  if (failures.length === 1) throw failures[0];
  return true;
}
