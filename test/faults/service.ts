// The whole service under faults: gateways on one database, as processes of their own where they die, an upstream that answers by a
// script, customers, and the answer that each client saw.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { type AccountBalance, openAccount, readBalance } from "../../src/ledger/accounts.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../gateway/scripted-upstream.ts";
import { creditByOperator } from "../setup/operator-credit.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";

/**
 * The request of every customer of these tests. 5 and 15 thousandths of a rupiah for a token, so that sums are exact.
 */
const MODEL = {
  id: "acme/large",
  context_length: 100_000,
  max_output_tokens: 16_000,
  price: { input: "5000", output: "15000", cache_hit: "950" },
  routes: [{ upstream: "local", model: "large" }],
};

export type Customer = { readonly accountId: string; readonly key: string };

export type AskOptions = {
  readonly stream?: boolean;
  readonly maxTokens?: number;
  readonly onText?: (text: string) => void;
};

/** The client's view of its request. `status` null: nothing; `broken`: the connection ended before the answer did. */
export type Seen = {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly costIdr: string | null;
  readonly text: string;
  readonly broken: boolean;
};

/** A usage record, as far as these tests read it. */
export type Billed = { readonly requestId: string; readonly basis: string; readonly charge: bigint };

export class Service {
  readonly upstream: ScriptedUpstream;
  readonly database: Database;
  readonly settings: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #nodes: SaldoProcess[] = [];
  readonly #nodesHere: SaldoHere[] = [];

  private constructor(facts: Pick<Service, "upstream" | "database" | "settings"> & { folder: string }) {
    this.upstream = facts.upstream;
    this.database = facts.database;
    this.settings = facts.settings;
    this.#folder = facts.folder;
  }

  /**
   * The upstream and the catalog, on an existing database. `node` starts gateways; they reach the database by these
   * settings, the test itself by the URL.
   */
  static async create(url: string, settings: Service["settings"] = { DATABASE_URL: url }): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), "saldo-faults-"));
    const upstream = await startScriptedUpstream();
    const database = await openDatabase({ url, dataDir: "" });
    const always = { SALDO_DATA_DIR: folder, SALDO_DEMO: "0" };
    const service = new Service({ upstream, database, folder, settings: { ...always, ...settings } });
    const local = { id: "local", kind: "openai-compatible", base_url: upstream.baseUrl, allow_private_address: true };
    const file = join(folder, "catalog.yaml");
    await writeFile(file, stringify({ upstreams: [local], models: [MODEL] }));
    await saldoJson(["catalog", "apply", file], service.settings);
    return service;
  }

  /** Starts a gateway in the process of the test, for one that neither dies nor sleeps. */
  async nodeHere(): Promise<SaldoHere> {
    const node = await SaldoHere.start(this.settings);
    this.#nodesHere.push(node);
    return node;
  }

  /** Starts a gateway as a process of its own. */
  async node(more: Readonly<Record<string, string>> = {}): Promise<SaldoProcess> {
    const node = await SaldoProcess.start({ ...this.settings, ...more });
    this.#nodes.push(node);
    return node;
  }

  /** An account with so many micro-rupiah and a key without a limit. */
  async customer(balance: bigint): Promise<Customer> {
    const accountId = uuidv7();
    await withTransaction(this.database, async (client) => {
      await openAccount(client, accountId);
      await creditByOperator(client, { accountId, amount: balance });
    });
    const { secret } = await issueKey(this.database, { accountId, name: "test", rateLimit: 0 });
    return { accountId, key: secret };
  }

  async balance(accountId: string): Promise<Omit<AccountBalance, "owed">> {
    const { posted, held, available } = await readBalance(this.database.pool, accountId);
    return { posted, held, available };
  }

  async usageOf(accountId: string): Promise<Billed[]> {
    const { rows } = await this.database.pool.query<Billed>(
      `SELECT request_id AS "requestId", basis, charge FROM usage_record WHERE account_id = $1 ORDER BY request_id`,
      [accountId],
    );
    return rows;
  }

  /** The settlements of an account's requests after their recovery. */
  async lateUsageOf(accountId: string): Promise<(Billed & { readonly cost: bigint })[]> {
    const { rows } = await this.database.pool.query<Billed & { cost: bigint }>(
      `SELECT request_id AS "requestId", basis, cost, charge FROM late_usage WHERE account_id = $1 ORDER BY request_id`,
      [accountId],
    );
    return rows;
  }

  /** The charge for the holds of an account if they were recovered now, in micro-rupiah. */
  async recoverableOf(accountId: string): Promise<bigint[]> {
    const { rows } = await this.database.pool.query<{ cost: bigint }>(
      `SELECT least(amount, ceil((progress_input_tokens::numeric * input_price + progress_output_tokens::numeric * output_price)
         / 1000000))::bigint AS cost FROM hold WHERE account_id = $1`,
      [accountId],
    );
    return rows.map(({ cost }) => cost);
  }

  async openHolds(): Promise<number> {
    const { rows } = await this.database.pool.query<{ open: number }>("SELECT count(*)::int AS open FROM hold");
    return rows[0]?.open ?? 0;
  }

  /** Every process that has ever registered, and whether it was declared dead. */
  async processes(): Promise<{ id: string; dead: boolean }[]> {
    const text = "SELECT id, dead_at IS NOT NULL AS dead FROM process ORDER BY id";
    return (await this.database.pool.query<{ id: string; dead: boolean }>(text)).rows;
  }

  audit() {
    return audit(this.database.pool);
  }

  /** Sends a chat request and returns the client's view of it. `onText` receives the text so far. */
  async ask(
    { httpUrl }: Pick<SaldoProcess, "httpUrl">,
    { key }: Pick<Customer, "key">,
    { stream = false, maxTokens = 100, onText = () => {} }: AskOptions = {},
  ): Promise<Seen> {
    let [status, requestId, costIdr, text]: [number | null, string | null, string | null, string] = [
      null,
      null,
      null,
      "",
    ];
    let broken = false;
    try {
      const response = await fetch(`${httpUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: MODEL.id,
          max_tokens: maxTokens,
          messages: [{ role: "user", content: "Hello!" }],
          ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
        }),
      });
      [status, requestId] = [response.status, response.headers.get("x-request-id")];
      costIdr = response.headers.get("x-saldo-cost-idr");
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        onText(text);
      }
    } catch {
      broken = true;
    }
    costIdr ??= /"cost_idr":"([0-9.]+)"/.exec(text)?.[1] ?? null;
    return { status, requestId, costIdr, text, broken };
  }

  /** Ends every gateway and takes everything down but the database, which belongs to the test. */
  async close(): Promise<void> {
    // A process that is paused takes no other signal than this one.
    await Promise.all(this.#nodes.map((node) => node.stop("SIGKILL")));
    await Promise.all(this.#nodesHere.map((node) => node.stop()));
    await this.upstream.stop();
    await this.database.close();
    await rm(this.#folder, { recursive: true });
  }
}
