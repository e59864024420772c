// Several named statements in one transaction, one packet and one answer: bound and executed one after the other, with a single
// Sync at the end. The driver runs one statement per round trip, each with a description of its rows that never changes. A lane
// knows its rows, so it omits both. The driver accepts such an object in place of its own queries.

import { sqlState, sqlStates } from "../../database/transactions.ts";

/** One statement: its parameters and its rows are text, as the protocol sends them. */
export type PipelinedStatement = {
  /** The name it is prepared under, once per connection. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
};

/** The rows of one statement. */
export type TextRows = readonly (readonly (string | null)[])[];

/** The part of the driver's connection that a query uses which speaks the protocol itself. */
type Wire = {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string>;
  close(message: { type: "S"; name: string }): void;
  parse(message: { name: string; text: string; types?: readonly number[] }): void;
  bind(message: { statement: string; values: readonly (string | null)[] }): void;
  execute(message: object): void;
  sync(): void;
};

export class StatementPipeline {
  /** Read by the driver: after so many milliseconds without the whole answer it calls handleError. */
  readonly query_timeout: number;
  /** Called by us at the end; the driver sets its own function here, to stop its clock. */
  callback: (error?: unknown) => void = () => {};
  /** The rows of each statement, once all are committed. */
  readonly rows: Promise<TextRows[]>;
  readonly statements: readonly PipelinedStatement[];
  readonly #collected: (string | null)[][][] = [[]];
  #resolve: (rows: TextRows[]) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #parsed: string[] = [];

  constructor(statements: readonly PipelinedStatement[], timeoutMs: number) {
    this.statements = statements;
    this.query_timeout = timeoutMs;
    this.rows = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Sends everything. The driver calls it when this query is next. */
  submit(wire: Wire): null {
    wire.stream.cork();
    try {
      for (const { name, text, values } of this.statements) {
        if (wire.parsedStatements[name] === undefined) {
          // Whether an earlier try got this far is unknown; closing a missing statement is no error.
          wire.close({ type: "S", name });
          wire.parse({ name, text });
          wire.parsedStatements[name] = text;
          this.#parsed.push(name);
        }
        wire.bind({ statement: name, values });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#collected.at(-1)?.push(fields);
  }

  handleCommandComplete(): void {
    this.#collected.push([]);
  }

  handleReadyForQuery(): void {
    this.callback();
    this.#resolve(this.#collected.slice(0, this.statements.length));
  }

  handleError(error: unknown, wire: Wire): void {
    // A backend that lacks one may lack them all: the session was reset, or a pooler has given us another backend.
    const isReset = sqlState(error) === sqlStates.noSuchStatement;
    const lost = isReset ? this.statements.map(({ name }) => name) : this.#parsed;
    for (const name of lost) delete wire.parsedStatements[name];
    this.callback(error);
    this.#reject(error);
  }
}
