// What operators ask of a process with several cells: a command on an account goes to its cell, and one on a request or a top-up to the
// cell that has it. Everything else is of the home cell; `saldo … --cell NAME` shows the others.

import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Cells } from "../../cells/cells.ts";
import { HOME_CELL } from "../../database/cell-claim.ts";
import { NotFound } from "../../kernel/errors.ts";
import { readCellOfAccount } from "../../ledger/accounts.ts";
import type { Books } from "./books.ts";

/** A method of a service, whichever it is. */
export type Method = (request: unknown, context: HandlerContext) => unknown;
/** The same of some books. */
export type MethodOf = (books: Books) => Method;
type BooksOf = (cells: Cells<Books>, accountId: string) => Promise<Books>;

/** Methods that find a thing by an id that names no account. */
const BY_ID: ReadonlySet<string> = new Set([
  "operatorAccount.creditUsage",
  "operatorTopUp.getTopUp",
  "operatorTopUp.verifyTopUp",
  "operatorApproval.grantApproval",
  "operatorApproval.refuseApproval",
]);
/** Methods that are carried out in every cell. */
const EVERYWHERE: ReadonlySet<string> = new Set(["operatorSystem.stopAdmission", "operatorSystem.startAdmission"]);

/** The method over all cells. */
export function operatorMethods(
  cells: Cells<Books>,
  { name, method, methodOf }: { readonly name: string; readonly method: DescMethod; readonly methodOf: MethodOf },
  booksOf: BooksOf,
): Method {
  const id = `${name}.${method.localName}`;
  const home = methodOf(cells.homeBooks());
  if (BY_ID.has(id)) return (request, context) => inTurn(cells, (books) => methodOf(books)(request, context));
  if (EVERYWHERE.has(id)) return (request, context) => everywhere(cells, (books) => methodOf(books)(request, context));
  if (id === "operatorAccount.listAccounts") return listAccounts(cells, home, booksOf);
  const isOfAccount =
    name === "operatorAccount" && method.input.fields.some(({ localName }) => localName === "accountId");
  if (!isOfAccount) return home;
  return async (request, context) => {
    const { accountId } = request as { accountId: string };
    return methodOf(await booksOf(cells, accountId))(request, context);
  };
}

/** The answer of the first cell that has what is asked for. Errors: those of the home cell, or of a cell that is away. */
async function inTurn(cells: Cells<Books>, call: (books: Books) => unknown): Promise<unknown> {
  let missing: unknown;
  for (const { name } of cells.all) {
    try {
      return await call(name === HOME_CELL ? cells.homeBooks() : cells.ofName(name));
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

/** The home cell's answer, once all cells have done it. Errors: the first of one that could not; the others have done it. */
async function everywhere(cells: Cells<Books>, call: (books: Books) => unknown): Promise<unknown> {
  const done = await Promise.allSettled(
    cells.all.map(async ({ name }) => call(name === HOME_CELL ? cells.homeBooks() : cells.ofName(name))),
  );
  for (const each of done) if (each.status === "rejected") throw each.reason;
  const [home] = done;
  return home?.status === "fulfilled" ? home.value : undefined;
}

type Listed = { readonly accounts: readonly { readonly id: string; balance?: unknown }[] };

/** The accounts of the people. What an account has is read in its cell; from one that is away nothing is shown of it. */
function listAccounts(cells: Cells<Books>, home: Method, booksOf: BooksOf): Method {
  return async (request: unknown, context: HandlerContext) => {
    const listed = (await home(request, context)) as Listed;
    const { pool } = cells.homeBooks().database;
    const accounts = listed.accounts.map(async (account) => {
      const cell = await readCellOfAccount(pool, account.id);
      if (cell === null || cell === undefined) return account;
      const { balance: _none, ...known } = account;
      try {
        const { ports } = await booksOf(cells, account.id);
        const { getAccount } = ports.implementations.operatorAccount;
        const found = (await getAccount({ accountId: account.id } as never, context)) as { account?: object };
        return { ...known, ...found.account };
      } catch {
        return known; // the list of all others is worth more than the error of one
      }
    });
    return { ...listed, accounts: await Promise.all(accounts) };
  };
}
