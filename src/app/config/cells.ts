// The settings of cells: further databases with accounts, beside that of DATABASE_URL.

import { addressesOf } from "../../kernel/database-hosts.ts";
import { ConfigError } from "./environment.ts";
import type { SettingReaders } from "./setting-readers.ts";

/** A further database that has accounts. */
export type CellSetting = {
  readonly name: string;
  readonly url: string;
  /** The login that owns the tables and migrates. Null: the one of `url`. */
  readonly ownerUrl: string | null;
  /** The login of chat requests, which cannot create money. Null: the one of `url`. */
  readonly requestUrl: string | null;
};

export type CellSettings = {
  readonly cells: readonly CellSetting[];
  /** The cell that new accounts come into; `least-full`: the one with the fewest. */
  readonly newAccountsIn: string;
};

/** The name of the cell of DATABASE_URL. */
const HOME = "home";
const LEAST_FULL = "least-full";
const NAME = /^[a-z][a-z0-9-]{0,30}$/;
/** An address may have commas between its servers: the next cell begins with its name. */
const NEXT_CELL = /,\s*(?=[a-z][a-z0-9-]*=postgres)/;

/** Reads them. Errors: ConfigError, without the value, which may hold passwords. */
export function readCells({ text, wrong }: Pick<SettingReaders, "text" | "wrong">): CellSettings {
  const given = text("SALDO_CELLS");
  const cells = given === null ? [] : given.split(NEXT_CELL).map(readCell);
  const names = cells.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new ConfigError("SALDO_CELLS names a cell twice");
  const urls = cells.map(({ url }) => url);
  if (new Set(urls).size < urls.length) throw new ConfigError("SALDO_CELLS has one address for two cells");
  const newAccountsIn = text("SALDO_NEW_ACCOUNTS_IN") ?? HOME;
  const accepted = [HOME, ...names, LEAST_FULL];
  if (!accepted.includes(newAccountsIn))
    throw wrong("SALDO_NEW_ACCOUNTS_IN", newAccountsIn, `one of ${accepted.join(", ")}`);
  return { cells, newAccountsIn };
}

function readCell(given: string): CellSetting {
  const [first = "", ...more] = given.trim().split(/\s+/);
  const [name, url] = readPart(first);
  if (!NAME.test(name) || name === HOME || name === LEAST_FULL)
    throw new ConfigError(
      "SALDO_CELLS must name each cell by small letters, digits and hyphens; home is that of DATABASE_URL",
    );
  const logins = new Map(more.map(readPart));
  const { owner: ownerUrl = null, request: requestUrl = null, ...unknown } = Object.fromEntries(logins);
  if (logins.size < more.length || Object.keys(unknown).length > 0)
    throw new ConfigError(`SALDO_CELLS: behind the address of ${name} may be owner= and request=, each once`);
  return { name, url, ownerUrl, requestUrl };
}

function readPart(part: string): [name: string, url: string] {
  const at = part.indexOf("=");
  const url = part.slice(at + 1);
  if (at < 0 || !addressesOf(url).every((each) => /^postgres(ql)?:$/.test(URL.parse(each)?.protocol ?? "")))
    throw new ConfigError("SALDO_CELLS must be name=address, separated by commas; an address begins with postgres://");
  return [part.slice(0, at), url];
}
