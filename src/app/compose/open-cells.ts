// Opens the other cells of a process, and opens those again that were away at its start.

import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Registry } from "prom-client";
import { closeOrders } from "../../billing/top-ups/close-orders.ts";
import { type Cell, Cells } from "../../cells/cells.ts";
import { claimCell, claimHome, HOME_CELL } from "../../database/cell-claim.ts";
import { openDatabase } from "../../database/database.ts";
import { claimPurpose } from "../../database/purpose.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { hasAccounts } from "../../ledger/accounts.ts";
import type { CellSetting } from "../config/cells.ts";
import { metricsOfCells, type ProcessMetrics } from "../observability/cell-metrics.ts";
import { addPrimaryMetric, createLedgerMetrics } from "../observability/metrics.ts";
import { type Books, type BooksOptions, metricSources, openBooks } from "./books.ts";
import { presetCatalog } from "./catalog.ts";
import { booksOf, type CellPorts, cellPorts } from "./cell-ports.ts";
import { cellConfig } from "./cell-config.ts";
import { whereIs } from "./database.ts";
import { publisherTo } from "./publish.ts";
import { prepareSecrets } from "./secrets.ts";

/** A cell that is away is tried again after so long. */
const AGAIN_MS = 2_000;
const PUBLISH_MS = 10_000;

type SettleWithin = Parameters<typeof openBooks>[1];

/** The cells of a process, and how they end. */
export type OpenCells = {
  readonly cells: Cells<Books>;
  /** What the servers ask, over all cells. */
  readonly ports: CellPorts;
  /** The database of an account of another cell. Null: it is in the home cell. Errors: ServiceBusy when its cell is away. */
  otherDatabaseOf(accountId: string): Promise<Pool | null>;
  /** The metrics of the process and the home cell, with those of the others. */
  metricsWith(home: Registry): ProcessMetrics;
  /** Stops waiting for payments, before the servers close. */
  endWatching(): void;
  /** Waits until running requests end and settle, then closes the other cells with their databases. */
  close(): Promise<void>;
};

/**
 * Opens them. One that is away is opened when it comes. Errors: WrongCell, WrongPurpose, and what else is wrong with a cell that answers.
 */
export async function openCells(home: Books, options: BooksOptions, settleWithinMs: SettleWithin): Promise<OpenCells> {
  const { pool } = home.database;
  const deployment = await claimHome(pool);
  await using stack = new AsyncDisposableStack();
  const opening = options.config.cells.map((setting) => {
    const opener = new CellOpener(setting, { home, deployment, options, settleWithinMs });
    stack.defer(() => opener.close());
    return opener;
  });
  await Promise.all(opening.map((opener) => opener.start()));
  const started = stack.move();
  const homeCell: Cell<Books> = { name: HOME_CELL, books: () => home };
  const cells = new Cells<Books>(homeCell, opening);
  return {
    cells,
    ports: cellPorts(cells, options.config),
    otherDatabaseOf: async (accountId) => {
      const books = await booksOf(cells, accountId);
      return books === home ? null : books.database.pool;
    },
    metricsWith: (registry) => metricsOfCells(registry, HOME_CELL, opening),
    endWatching: () => opening.forEach((opener) => opener.books()?.endWatching()),
    close: () => started.disposeAsync(),
  };
}

type Opening = {
  readonly home: Books;
  readonly deployment: string;
  readonly options: BooksOptions;
  readonly settleWithinMs: SettleWithin;
};

type OpenCell = { readonly books: Books; readonly registry: Registry; close(): Promise<void> };

/** One cell: open, or tried again until it is. */
class CellOpener {
  readonly name: string;
  readonly #setting: CellSetting;
  readonly #from: Opening;
  readonly #logger: EventLogger;
  readonly #stopping = new AbortController();
  #open: OpenCell | null = null;
  #trying: Promise<void> = Promise.resolve();

  constructor(setting: CellSetting, from: Opening) {
    this.name = setting.name;
    this.#setting = setting;
    this.#from = from;
    this.#logger = withCell(from.options.logger, setting.name);
  }

  readonly books = (): Books | null => this.#open?.books ?? null;
  readonly registry = (): Registry | null => this.#open?.registry ?? null;

  /** Tries once, and goes on trying in the background. Errors: all but those of a database that is away. */
  async start(): Promise<void> {
    try {
      this.#open = await this.#openOnce();
    } catch (err) {
      if (!isDatabaseAway(err)) throw err;
      this.#logger.error({ event: "cell.away", err }, "a cell is away; its accounts are not served");
      this.#trying = this.#tryAgain();
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#trying;
    await this.#open?.close();
  }

  async #tryAgain(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#open === null && !signal.aborted) {
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {}); // aborted: the loop ends
      if (signal.aborted) return;
      try {
        this.#open = await this.#openOnce();
        this.#logger.info({ event: "cell.open" }, "a cell that was away is served");
      } catch (err) {
        if (!isDatabaseAway(err)) this.#logger.error({ event: "cell.refused", err }, "a cell cannot be served");
      }
    }
  }

  async #openOnce(): Promise<OpenCell> {
    const { home, deployment, options, settleWithinMs } = this.#from;
    const config = cellConfig(options.config, this.#setting);
    await using stack = new AsyncDisposableStack();
    const database = await openDatabase({
      ...whereIs(config),
      poolSize: config.poolSize,
      requestPoolSize: config.requestPoolSize,
    });
    stack.defer(() => database.close());
    const { pool } = database;
    await claimPurpose(pool, config.demo ? "demo" : "production");
    await claimCell(pool, { deployment, cell: this.name }, () => hasAccounts(pool));
    await prepareSecrets(database, config, this.#logger);
    const publish = publisherTo(database, home.database, presetCatalog(config));
    await publish();
    if (!config.payments.sandbox) await closeOrders(database, "sandbox");
    const books = await openBooks(
      {
        ...options,
        config,
        database,
        home,
        logger: this.#logger,
        more: [{ name: "publish to the cell", everyMs: PUBLISH_MS, run: publish }],
      },
      settleWithinMs,
    );
    stack.defer(() => books.close());
    const opened = stack.move();
    const registry = createLedgerMetrics(metricSources(books));
    addPrimaryMetric(registry, database);
    return { books, registry, close: () => opened.disposeAsync() };
  }
}

/** The log of a cell, whose lines have its name. */
function withCell(logger: EventLogger, cell: string): EventLogger {
  return {
    info: (facts, message) => logger.info({ ...facts, cell }, message),
    warn: (facts, message) => logger.warn({ ...facts, cell }, message),
    error: (facts, message) => logger.error({ ...facts, cell }, message),
    fatal: (facts, message) => logger.fatal({ ...facts, cell }, message),
  };
}
