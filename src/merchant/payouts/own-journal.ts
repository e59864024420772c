// A journal's folder has a name that changes again and again, in the folder and in the books. A copied volume makes two folders with one
// journal: the node that changes the name first has it, and the other one falls behind.

import type { PoolClient } from "pg";
import { type History, isSameHistory } from "../../database/history.ts";
import { readJournal } from "./journal-store.ts";
import type { SignedJournal } from "./signed-journal.ts";

/** Another node, `host`, has a copy of the journal's folder. */
export class JournalCopied extends Error {
  readonly host: string;

  constructor(host: string) {
    super(`the folder of this journal and one of ${host} are copies`);
    this.host = host;
  }
}

/**
 * Gives a journal's folder another name, while its wallet is locked, and returns it for the books. The folder has the new name first, and
 * the former one beside it: a transaction that fails changes nothing. Errors: JournalCopied; JournalUnavailable.
 */
export async function ownJournal(
  client: PoolClient,
  journal: SignedJournal,
  { walletId, journalId, history }: { walletId: string; journalId: string; history: History },
): Promise<string> {
  const known = await readJournal(client, { walletId, journalId });
  const owner = known?.owner ?? null;
  // Books of another history may have a former name.
  const isKnown = known !== null && isSameHistory(known.history, history);
  if (owner !== null && isKnown && !(await journal.owners()).includes(owner)) throw new JournalCopied(known.host);
  return journal.own(owner);
}
