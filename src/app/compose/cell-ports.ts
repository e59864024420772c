// The ports of a process that has several cells: each call goes to the books of the account that it acts for. People, merchants,
// operators and what strangers read are in the home cell.

import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { SandboxDesk } from "../../billing/payments/sandbox/sandbox-desk.ts";
import type { Cells } from "../../cells/cells.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import { isUuid } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { digestSecretToken, isSecretToken } from "../../kernel/secret-token.ts";
import type { Keys } from "../../keys/keys.ts";
import { readCellOfAccount } from "../../ledger/accounts.ts";
import { principalOf } from "../../transport/calls/call.ts";
import { type Implementations, services } from "../../transport/calls/services.ts";
import type { Config } from "../config/config.ts";
import type { Books } from "./books.ts";
import { type Method, type MethodOf, operatorMethods } from "./cell-operators.ts";
import { callerLimits } from "./limits.ts";
import { openInCell } from "./open-in-cell.ts";

/** What the servers ask of a process with cells. */
export type CellPorts = Omit<Books["ports"], "implementations"> & { readonly implementations: Implementations };

/** The services whose methods act on an account of the ledger. All others are the home cell's. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set([
  "gateway",
  "messages",
  "responses",
  "gemini",
  "embeddings",
  "keys",
  "billing",
  "receipts",
  "alerts",
  "autoTopUps",
  "statements",
] satisfies (keyof typeof services)[]);

/** The ports over all cells. Those of the home cell serve where nothing else is written here. */
export function cellPorts(cells: Cells<Books>, config: Config): CellPorts {
  const home = cells.homeBooks();
  const keys = keysOfCells(cells);
  return {
    ...home.ports,
    keys,
    gateway: {
      ...home.ports.gateway,
      answerChat: async (call, sink) => (await booksOf(cells, call.key.accountId)).ports.gateway.answerChat(call, sink),
    },
    implementations: implementationsOfCells(cells),
    ...callerLimits({
      config,
      database: home.database,
      people: home.ports,
      keys,
      verifyMerchant: home.ports.verifyMerchant,
    }),
    payments: paymentsOfCells(cells),
    // A node is of use as long as it serves one of the cells.
    ready: async () => {
      const asked = cells.all.map(async ({ books }) => (await books()?.ports.ready()) === true);
      return (await Promise.all(asked)).includes(true);
    },
  };
}

/**
 * The books of an account; of the home cell where there is no such account, so that it answers what it always does. Errors: ServiceBusy
 * when its cell is away.
 */
export async function booksOf(cells: Cells<Books>, accountId: string): Promise<Books> {
  const home = cells.homeBooks();
  if (!isUuid(accountId)) return home;
  const known = cells.known(accountId);
  if (known !== undefined) return known;
  let cell: string | null | undefined;
  try {
    cell = await readCellOfAccount(home.database.pool, accountId);
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    // Each other cell knows its own accounts.
    const found = await cells.findAmongOthers(accountId, async ({ database }) =>
      (await readCellOfAccount(database.pool, accountId)) === null ? true : null,
    );
    if (found === null) throw error;
    return found.books;
  }
  if (cell === undefined) return home;
  if (cell === null) {
    cells.remember(accountId, home);
    return home;
  }
  const books = cells.ofName(cell);
  await openInCell(books.database, home.database, accountId);
  cells.remember(accountId, books);
  return books;
}

/** A name under which the cell of a secret is remembered, without the secret. */
function nameOf(secret: string): string {
  return digestSecretToken(secret).toString("latin1");
}

function keysOfCells(cells: Cells<Books>): Keys {
  const homeKeys = (): Keys => cells.homeBooks().ports.keys;
  const keysOf = ({ accountId }: { accountId: string }): Keys => cells.known(accountId)?.ports.keys ?? homeKeys();
  return {
    async verify(secret) {
      // What is no key at all is refused, whichever cell is away.
      if (!isSecretToken(secret, "gw_")) return homeKeys().verify(secret);
      const found = await cells.find(nameOf(secret), ({ ports }) => ports.keys.verify(secret));
      if (found === null) return null;
      cells.remember(found.answer.accountId, found.books);
      return found.answer;
    },
    hasWorked: (secret) => cells.some(({ ports }) => ports.keys.hasWorked(secret)),
    known(secret) {
      const key = cells.peek(nameOf(secret))?.ports.keys.known(secret);
      // What follows asks by the account, which may have been forgotten meanwhile.
      return key !== undefined && cells.peek(key.accountId) === undefined ? undefined : key;
    },
    takeSlot: async (key) => (await booksOf(cells, key.accountId)).ports.keys.takeSlot(key),
    refuseWhileLimited: (key) => keysOf(key).refuseWhileLimited(key),
    rememberLimited: (key, retryAfterMs) => keysOf(key).rememberLimited(key, retryAfterMs),
  };
}

/** A notification is taken where its order is; the page of a sandbox payment is shown where the payment is. */
function paymentsOfCells(cells: Cells<Books>): Books["ports"]["payments"] {
  const { payments } = cells.homeBooks().ports;
  const { desk } = payments;
  return {
    ...payments,
    topUps: {
      ...payments.topUps,
      async takeNotification(provider, request) {
        // Where a cell is away that may have the order, the provider sends it again.
        const found = await cells.ask(async ({ ports }) =>
          (await ports.payments.topUps.knowsOrder(provider, request)) ? true : null,
        );
        return (found?.books.ports ?? cells.homeBooks().ports).payments.topUps.takeNotification(provider, request);
      },
    },
    desk: desk === null ? null : deskOfCells(cells, desk),
  };
}

function deskOfCells(cells: Cells<Books>, home: SandboxDesk): SandboxDesk {
  const deskOf = async (token: string): Promise<SandboxDesk> => {
    const found = await cells.ask(async ({ ports: { payments } }) => {
      const isHere = (await payments.desk?.has(token)) ?? false;
      return isHere ? payments.desk : null;
    });
    return found?.answer ?? home;
  };
  return {
    ...home,
    find: async (token) => (await deskOf(token)).find(token),
    act: async (token, action) => (await deskOf(token)).act(token, action),
  };
}

type Methods = Readonly<Partial<Record<string, Method>>>;

/** Each method that the home cell has. Those of accounts have the books of their caller's account behind them. */
function implementationsOfCells(cells: Cells<Books>): Implementations {
  const home = cells.homeBooks().ports.implementations;
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => {
      const given = (home[name as keyof typeof home] ?? {}) as Methods;
      const methods = (service as DescService).methods.filter(({ localName }) => localName in given);
      const bound = methods.map((method): [string, Method] => {
        const methodOf: MethodOf = (books) => methodOfBooks(books, name, method);
        return [method.localName, passed(cells, { name, method, methodOf })];
      });
      return [name, Object.fromEntries(bound)];
    }),
  );
}

function methodOfBooks(books: Books, service: string, { localName }: DescMethod): Method {
  const { implementations } = books.ports;
  const method = ((implementations[service as keyof typeof implementations] ?? {}) as Methods)[localName];
  invariant(method !== undefined, "every cell has the methods of the home cell");
  return method;
}

type Bound = { readonly name: string; readonly method: DescMethod; readonly methodOf: MethodOf };

function passed(cells: Cells<Books>, { name, method, methodOf }: Bound): Method {
  if (!OF_ACCOUNTS.has(name)) {
    const ofHome = methodOf(cells.homeBooks());
    return name.startsWith("operator") ? operatorMethods(cells, { name, method, methodOf }, booksOf) : ofHome;
  }
  if (method.methodKind === "unary") {
    return async (request, context) => methodOf(await booksOfCaller(cells, context))(request, context);
  }
  return async function* pass(request, context) {
    yield* methodOf(await booksOfCaller(cells, context))(request, context) as AsyncIterable<unknown>;
  };
}

async function booksOfCaller(cells: Cells<Books>, context: HandlerContext): Promise<Books> {
  const principal = principalOf(context);
  return booksOf(cells, "accountId" in principal ? principal.accountId : "");
}
