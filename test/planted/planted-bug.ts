// Bugs to plant: each is a change of the sources that a tired engineer could make, and the test that must notice it. They are
// data, so that they are easy to add: the author of a guard adds the bug that takes it away, to a file of bugs/.

/** One replacement. The text to find is in its file exactly once, in any layout. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

export type PlantedBug = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The test file that is run, and a part of the name of a test in it that must fail. */
  readonly noticedBy: { readonly file: string; readonly test: string };
};

/** A change of a file of the ledger. */
export const ledger = (file: string, find: string, replace: string): Edit => ({
  file: `src/ledger/${file}`,
  find,
  replace,
});
/** A change of a file of functions of the database, such as the money statements of a request. */
export const statement = (file: string, find: string, replace: string): Edit => ({
  file: `src/database/functions/${file}.sql`,
  find,
  replace,
});
/** A change of a file of the gateway. */
export const gateway = (file: string, find: string, replace: string): Edit => ({
  file: `src/gateway/${file}`,
  find,
  replace,
});
/** A test of the money tests. */
export const money = (file: string, test: string) => ({ file: `test/money/${file}.test.ts`, test });
