// The cells of a deployment, and in which of them something is. Each is asked for what it has; the answer is remembered, so that a
// cell that is away delays no caller who is known to be in another.

import { LRUCache } from "lru-cache";
import { ServiceBusy } from "../kernel/errors.ts";

/** A PostgreSQL with the whole schema, and what serves its accounts in this process. */
export type Cell<Books> = {
  readonly name: string;
  /** Null: its database was not reached yet. */
  readonly books: () => Books | null;
};

/** What was found, and the books that it is in. */
export type Found<Books, Answer> = { readonly books: Books; readonly answer: Answer };

/** Accounts and credentials are remembered apart from each other, some 150 bytes each. */
const MAX_REMEMBERED = 200_000;

/** Finds cells. */
export class Cells<Books> {
  readonly home: Cell<Books>;
  readonly all: readonly Cell<Books>[];
  readonly #remembered = new LRUCache<string, Cell<Books>>({ max: MAX_REMEMBERED });

  /** `home` has what belongs to no account: people, operators, and what strangers read. */
  constructor(home: Cell<Books>, others: readonly Cell<Books>[]) {
    this.home = home;
    this.all = [home, ...others];
  }

  /** The books of the home cell, which are open as long as the process serves. */
  homeBooks(): Books {
    return open(this.home);
  }

  /** The books in which a name was found before. Undefined: it was not, or was forgotten. Errors: ServiceBusy when the cell is away. */
  known(name: string): Books | undefined {
    const cell = this.#remembered.get(name);
    return cell === undefined ? undefined : open(cell);
  }

  /** The same without an error where the cell is away. */
  peek(name: string): Books | undefined {
    return this.#remembered.get(name)?.books() ?? undefined;
  }

  /** The books of a cell by its name. Errors: ServiceBusy when it is away, or not set up here. */
  ofName(name: string): Books {
    const cell = this.all.find((each) => each.name === name);
    if (cell === undefined) throw new ServiceBusy();
    return open(cell);
  }

  /** Whether any cell that can be asked answers yes. */
  some(asks: (books: Books) => boolean): boolean {
    return this.all.some((cell) => {
      const books = cell.books();
      return books !== null && asks(books);
    });
  }

  /**
   * Asks the cell that had the name before, and all of them where that does not have it any more. The first answer counts. Null: no
   * cell has it. Errors: those of a cell, such as ServiceBusy, when no other has the name: the one that is away may have it.
   */
  async find<Answer>(
    name: string,
    ask: (books: Books) => Promise<Answer | null>,
  ): Promise<Found<Books, Answer> | null> {
    const remembered = this.#remembered.get(name);
    if (remembered !== undefined) {
      const books = open(remembered);
      const answer = await ask(books);
      if (answer !== null) return { books, answer };
      this.#remembered.delete(name);
    }
    const found = await firstAnswer(this.all.filter((cell) => cell !== remembered).map((cell) => askOne(cell, ask)));
    if (found !== null) this.#remembered.set(name, found.cell);
    return found;
  }

  /** Asks the cells beside the home, and remembers which has the name. Null and errors: as for `find`. */
  async findAmongOthers<Answer>(
    name: string,
    ask: (books: Books) => Promise<Answer | null>,
  ): Promise<Found<Books, Answer> | null> {
    const found = await firstAnswer(this.all.filter((cell) => cell !== this.home).map((cell) => askOne(cell, ask)));
    if (found !== null) this.#remembered.set(name, found.cell);
    return found;
  }

  /** Asks all cells, and remembers nothing. Null and errors: as for `find`. */
  ask<Answer>(ask: (books: Books) => Promise<Answer | null>): Promise<Found<Books, Answer> | null> {
    return firstAnswer(this.all.map((cell) => askOne(cell, ask)));
  }

  /** Remembers a second name of what was found: such as the account of a key. */
  remember(name: string, books: Books): void {
    const cell = this.all.find((each) => each.books() === books);
    if (cell !== undefined) this.#remembered.set(name, cell);
  }
}

function open<Books>(cell: Cell<Books>): Books {
  const books = cell.books();
  if (books === null) throw new ServiceBusy();
  return books;
}

async function askOne<Books, Answer>(cell: Cell<Books>, ask: (books: Books) => Promise<Answer | null>) {
  const books = open(cell);
  const answer = await ask(books);
  return answer === null ? null : { cell, books, answer };
}

/** The first that is not null, without waiting for the others. Null: all are. Errors: the first one, where no answer came. */
async function firstAnswer<Answer>(asked: readonly Promise<Answer | null>[]): Promise<Answer | null> {
  const none = new Error("no answer");
  const answered = asked.map(async (each) => {
    const answer = await each;
    if (answer === null) throw none;
    return answer;
  });
  try {
    return await Promise.any(answered);
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const failure: unknown = error.errors.find((each) => each !== none);
    if (failure !== undefined) throw failure;
    return null;
  }
}
