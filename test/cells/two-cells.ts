// Two cells on databases of a test's own, the second behind a proxy that can take it away, and people whose accounts are in it.

import { createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { chat } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { callsWith } from "../setup/session-calls.ts";
import { signInPerson, type SignedIn } from "../setup/session-rows.ts";
import { createTestDatabase, requestUrlOf, type TestDatabase } from "../setup/test-database.ts";
import { PostgresProxy } from "../faults/postgres-proxy.ts";

export type TwoCells = {
  readonly home: TestDatabase;
  readonly two: TestDatabase;
  /** Before the database of the home cell, and of the other. */
  readonly links: { readonly home: PostgresProxy; readonly two: PostgresProxy };
  /** The settings of a node that has both. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

/** Makes the databases. */
export async function twoCells(): Promise<TwoCells> {
  const [home, two] = [await createTestDatabase(), await createTestDatabase()];
  const links = { home: await PostgresProxy.before(home.url), two: await PostgresProxy.before(two.url) };
  const through = links.two.urlFor(two.url);
  return {
    home,
    two,
    links,
    settings: {
      DATABASE_URL: links.home.urlFor(home.url),
      SALDO_CELLS: `two=${through} request=${requestUrlOf(through)}`,
      SALDO_NEW_ACCOUNTS_IN: "two",
    },
    async close() {
      await links.home.close();
      await links.two.close();
      await home.drop();
      await two.drop();
    },
  };
}

/** Two nodes on two cells, for all tests of a file. */
export type TwoNodes = { cells: TwoCells; readonly nodes: SaldoHere[]; readonly node: (index: number) => SaldoHere };

/** Starts them before the tests of a file, and stops them behind. */
export function useTwoNodes(): TwoNodes {
  const nodes: SaldoHere[] = [];
  const used = {
    nodes,
    node(index: number): SaldoHere {
      const found = nodes[index % 2];
      if (found === undefined) throw new Error("two nodes run");
      return found;
    },
  } as TwoNodes;
  beforeAll(async () => {
    used.cells = await twoCells();
    nodes.push(...(await Promise.all([1, 2].map(() => SaldoHere.start(used.cells.settings)))));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((each) => each.stop()));
    await used.cells.close();
  });
  return used;
}

/** The settings under which new accounts are opened in the home cell. */
export function atHome({ settings }: Pick<TwoCells, "settings">): Readonly<Record<string, string>> {
  return { ...settings, SALDO_NEW_ACCOUNTS_IN: "home" };
}

/** A signed-in person without an account: the first call opens it, in the cell of the rule. */
export async function newPerson({ home }: Pick<TwoCells, "home">): Promise<SignedIn> {
  const { pool } = home.database;
  const person = await signInPerson(pool);
  const email = `new-${person.email}`;
  await pool.query("UPDATE auth.person SET account_id = NULL, email = $2 WHERE id = $1", [person.personId, email]);
  return { ...person, email };
}

/** Calls of a person's browser to a node. */
export function callsOf(saldo: Pick<SaldoHere, "httpUrl">, { cookie }: SignedIn): Transport {
  return callsWith(saldo, cookie);
}

/** An account in the second cell with rupiah on it and a key. */
export async function customerInTwo(
  cells: TwoCells,
  saldo: Pick<SaldoHere, "httpUrl">,
  amount: string,
): Promise<{ accountId: string; key: string; person: SignedIn }> {
  const person = await newPerson(cells);
  await createClient(BillingService, callsOf(saldo, person)).getBalance({});
  const accountId = await accountOfPerson(cells, person);
  const of = ["--cell", "two", "--account", accountId];
  const words = ["account", "credit", ...of, "--amount", amount];
  await saldoJson([...words, "--reason", "test", "--reference", accountId], cells.settings);
  const { key = "" } = await saldoJson(["key", "create", ...of, "--name", "test", "--rate-limit", "0"], cells.settings);
  return { accountId, key, person };
}

/** The account of a person, once there is one. */
export async function accountOfPerson({ home }: Pick<TwoCells, "home">, { personId }: SignedIn): Promise<string> {
  const { rows } = await home.database.pool.query<{ id: string }>(
    "SELECT account_id AS id FROM auth.person WHERE id = $1",
    [personId],
  );
  return rows[0]?.id ?? "";
}

/** Sends as many requests as may be at once, to the nodes in turn. Returns their statuses. */
export async function askAll(
  nodes: readonly Pick<SaldoHere, "httpUrl">[],
  key: string,
  times: number,
  body: object = HELLO,
): Promise<number[]> {
  const asked = Array.from({ length: times }, (_, index) =>
    chat(nodes[index % nodes.length]?.httpUrl ?? "", key, body),
  );
  return Promise.all(asked.map(async (answer) => (await answer).status));
}
