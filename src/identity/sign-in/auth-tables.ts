// The tables of sign-in as better-auth asks for them: plain SQL over our own pool, each statement naming its schema. The token
// of a session goes in and out as its owner knows it, while the table holds its digest.

import type { Pool } from "pg";
import { type CleanedWhere, createAdapterFactory, type CustomAdapter } from "better-auth/adapters";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { openText } from "../../kernel/sealed-text.ts";
import { digestSecretToken } from "../../kernel/secret-token.ts";
import { APP_SECRETS, nameOfApp } from "../second-factor/second-factor-store.ts";

type Table = { readonly name: string; readonly columns: Readonly<Record<string, string>> };

/** What better-auth calls each table and column, and what they are called here. Nothing else can get into a statement. */
const tables: Readonly<Record<string, { readonly name: string; readonly columns: Readonly<Record<string, string>> }>> =
  {
    user: {
      name: "auth.person",
      columns: columnsOf([
        "id",
        "email",
        "emailVerified",
        "name",
        "image",
        "twoFactorEnabled",
        "createdAt",
        "updatedAt",
      ]),
    },
    session: {
      name: "auth.session",
      columns: {
        ...columnsOf(["id", "userId", "expiresAt", "ipAddress", "userAgent", "createdAt", "updatedAt"]),
        token: "token_digest",
      },
    },
    account: {
      name: "auth.credential",
      columns: columnsOf([
        "id",
        "userId",
        "accountId",
        "providerId",
        "accessToken",
        "refreshToken",
        "idToken",
        "accessTokenExpiresAt",
        "refreshTokenExpiresAt",
        "scope",
        "password",
        "createdAt",
        "updatedAt",
      ]),
    },
    twoFactor: {
      name: "auth.two_factor",
      columns: columnsOf(["id", "userId", "secret", "backupCodes", "verified"]),
    },
    passkey: {
      name: "auth.passkey",
      columns: {
        ...columnsOf([
          "id",
          "userId",
          "name",
          "publicKey",
          "counter",
          "deviceType",
          "backedUp",
          "transports",
          "aaguid",
        ]),
        credentialID: "credential_id",
        createdAt: "created_at",
      },
    },
    verification: {
      name: "auth.verification",
      columns: columnsOf(["id", "identifier", "value", "expiresAt", "createdAt", "updatedAt"]),
    },
  };

function columnsOf(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    fields.map((field) => [field, field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  );
}

const comparisons: Readonly<Record<string, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" };

type Row = Record<string, unknown>;

/** One statement while it is put together: its values, and the session tokens in it. */
class Statement {
  readonly values: unknown[] = [];
  readonly #table: Table;
  /** Tokens by the hexadecimal of their digests, to give back what was asked by. */
  readonly #tokens = new Map<string, string>();

  constructor(model: string) {
    const table = tables[model];
    invariant(table !== undefined, `sign-in has a table ${model}`);
    this.#table = table;
  }

  get table(): string {
    return this.#table.name;
  }

  column(field: string): string {
    const column = this.#table.columns[field];
    invariant(column !== undefined, `${this.table} has a column ${field}`);
    return column;
  }

  /** A value as a parameter. */
  put(field: string, value: unknown): string {
    const isAppSecret = this.#isAppSecret(this.column(field));
    invariant(!isAppSecret, "the secret of an app is stored by second-factor-store.ts, which encrypts it");
    this.values.push(this.column(field) === "token_digest" ? this.#digest(value) : value);
    return `$${this.values.length}`;
  }

  where(clauses: readonly CleanedWhere[] = []): string {
    const all = clauses.filter(({ connector }) => connector !== "OR").map((clause) => this.#condition(clause));
    const any = clauses.filter(({ connector }) => connector === "OR").map((clause) => this.#condition(clause));
    if (any.length > 0) all.push(`(${any.join(" OR ")})`);
    return all.length === 0 ? "" : ` WHERE ${all.join(" AND ")}`;
  }

  /** A row under better-auth's names. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- better-auth names the type of the row
  read<T>(row: Row): T {
    const fields = Object.entries(this.#table.columns).map(([field, column]): [string, unknown] => {
      const value = row[column];
      if (this.#isAppSecret(column)) return [field, openText(nameOfApp(String(row["user_id"])), String(value))];
      return [field, column === "token_digest" && Buffer.isBuffer(value) ? this.#tokenOf(value) : value];
    });
    return Object.fromEntries(fields) as T;
  }

  #isAppSecret(column: string): boolean {
    return this.table === APP_SECRETS.table && APP_SECRETS.columns.includes(column);
  }

  #condition({ field, value, operator = "eq" }: CleanedWhere): string {
    const column = this.column(field);
    if (operator === "in") return `${column} = ANY (${this.put(field, value)})`;
    const comparison = comparisons[operator];
    invariant(comparison !== undefined, `sign-in compares by ${operator}`);
    if (value === null) return `${column} IS ${comparison === "=" ? "" : "NOT "}NULL`;
    return `${column} ${comparison} ${this.put(field, value)}`;
  }

  #digest(token: unknown): unknown {
    if (Array.isArray(token)) return token.map((each) => this.#digest(each));
    invariant(typeof token === "string", "the token of a session is a text");
    const digest = digestSecretToken(token);
    this.#tokens.set(digest.toString("hex"), token);
    return digest;
  }

  /** The token of a session that was not found by it is not known; the empty text replaces it, and is no token. */
  #tokenOf(digest: Buffer): string {
    return this.#tokens.get(digest.toString("hex")) ?? "";
  }
}

/** What better-auth keeps its rows by. */
export function authTables(pool: Pool) {
  return createAdapterFactory({
    config: {
      adapterId: "saldo",
      adapterName: "Saldo",
      supportsDates: true,
      supportsBooleans: true,
      supportsJSON: false,
      supportsUUIDs: false,
      // A password is hashed and a mail is written in the midst of what better-auth would put into one transaction.
      transaction: false,
      customIdGenerator: () => uuidv7(),
    },
    adapter: () => statements(pool),
  });
}

function statements(pool: Pool): CustomAdapter {
  return {
    async create({ model, data }) {
      const statement = new Statement(model);
      const entries = Object.entries(data).filter(([, value]) => value !== undefined);
      const columns = entries.map(([field]) => statement.column(field)).join(", ");
      const values = entries.map(([field, value]) => statement.put(field, value)).join(", ");
      const text = `INSERT INTO ${statement.table} (${columns}) VALUES (${values}) RETURNING *`;
      const { rows } = await pool.query<Row>(text, statement.values);
      invariant(rows[0] !== undefined, "an insert gives its row back");
      return statement.read(rows[0]);
    },

    async findOne({ model, where }) {
      const statement = new Statement(model);
      const text = `SELECT * FROM ${statement.table}${statement.where(where)} LIMIT 1`;
      const { rows } = await pool.query<Row>(text, statement.values);
      return rows[0] === undefined ? null : statement.read(rows[0]);
    },

    async findMany({ model, where, limit, offset, sortBy }) {
      const statement = new Statement(model);
      const conditions = statement.where(where);
      const direction = sortBy?.direction === "desc" ? "DESC" : "ASC";
      const order = sortBy === undefined ? "" : ` ORDER BY ${statement.column(sortBy.field)} ${direction}`;
      const page = ` LIMIT ${bounded(limit, MOST_ROWS)} OFFSET ${bounded(offset ?? 0, MOST_ROWS)}`;
      const { rows } = await pool.query<Row>(
        `SELECT * FROM ${statement.table}${conditions}${order}${page}`,
        statement.values,
      );
      return rows.map((row) => statement.read(row));
    },

    async update({ model, where, update }) {
      const { statement, text } = updateOf(model, where, update as Row);
      const { rows } = await pool.query<Row>(`${text} RETURNING *`, statement.values);
      return rows[0] === undefined ? null : statement.read(rows[0]);
    },

    async updateMany({ model, where, update }) {
      const { statement, text } = updateOf(model, where, update);
      return (await pool.query(text, statement.values)).rowCount ?? 0;
    },

    async delete({ model, where }) {
      await deleteWhere(pool, model, where);
    },

    async deleteMany({ model, where }) {
      return (await deleteWhere(pool, model, where)).rows.length;
    },

    /** Reads and removes in one statement: a link is used once, even by parallel requests. */
    async consumeOne({ model, where }) {
      const { statement, rows } = await deleteWhere(pool, model, where);
      return rows[0] === undefined ? null : statement.read(rows[0]);
    },

    async count({ model, where }) {
      const statement = new Statement(model);
      const text = `SELECT count(*)::int AS count FROM ${statement.table}${statement.where(where)}`;
      return (await pool.query<{ count: number }>(text, statement.values)).rows[0]?.count ?? 0;
    },
  };
}

const MOST_ROWS = 1_000;

function bounded(value: number, most: number): number {
  return Number.isInteger(value) && value >= 0 ? Math.min(value, most) : most;
}

function updateOf(model: string, where: readonly CleanedWhere[], update: Row) {
  const statement = new Statement(model);
  const entries = Object.entries(update).filter(([, value]) => value !== undefined);
  const changes = entries.map(([field, value]) => `${statement.column(field)} = ${statement.put(field, value)}`);
  const text = `UPDATE ${statement.table} SET ${changes.join(", ")}${statement.where(where)}`;
  return { statement, text };
}

async function deleteWhere(pool: Pool, model: string, where: readonly CleanedWhere[]) {
  const statement = new Statement(model);
  const conditions = statement.where(where);
  invariant(conditions !== "", "a removal has a condition");
  const { rows } = await pool.query<Row>(`DELETE FROM ${statement.table}${conditions} RETURNING *`, statement.values);
  return { statement, rows };
}
