// The connections to PostgreSQL: the address, the login, and the types of returned values.

import { types } from "pg";
import type { Client, ClientConfig, CustomTypesConfig } from "pg";
import { addressesOf } from "../kernel/database-hosts.ts";
import { PrimaryClient, type PrimaryClientConfig, type ServerAddress, ServerList } from "./primary.ts";
import { servingOptions } from "./serving-settings.ts";

/** The address of a database and its login: a URL of an external server, or the socket of the embedded one. */
export type Login =
  | { readonly connectionString: string; readonly servers?: ServerList }
  | { readonly host: string; readonly user: string; readonly database: string };

/** How long a connection may take to be made before the database counts as away. */
export const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

const OID: Record<"int8" | "int8Array" | "textArray" | "date" | "dateArray" | "numericArray", number> = {
  int8: 20,
  int8Array: 1016,
  textArray: 1009,
  date: 1082,
  dateArray: 1182,
  numericArray: 1231,
};

/** Whole numbers of 64 bits arrive as bigint; numeric and date stay the text that PostgreSQL wrote. */
const exactTypes: CustomTypesConfig = { getTypeParser: exactParser };

/** The login of a URL, which may name several hosts: then each connection goes to the primary among them. */
export function loginOf(url: string, onPrimary?: (server: ServerAddress) => void): Login {
  const [first = url, ...others] = addressesOf(url);
  if (others.length === 0) return { connectionString: url };
  const configs = [first, ...others].map((connectionString) => clientConfig({ connectionString }, "saldo primary"));
  return { connectionString: first, servers: new ServerList(configs, onPrimary === undefined ? {} : { onPrimary }) };
}

/** What every client and pool of ours is made with. */
export function clientConfig(login: Login, applicationName: string): PrimaryClientConfig {
  return {
    ...login,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: exactTypes,
  };
}

/** The URL of the same server, with a login that becomes the serving role as the session starts. */
export function borrowServingRole(url: string, versionNumber: number): string {
  // A query parameter of the URL wins over a setting beside it, so the options have to go into the URL as well.
  const given = /[?&]options=([^&]*)/.exec(url)?.[1] ?? "";
  const options = `${decodeURIComponent(given)} ${servingOptions(versionNumber)}`.trim();
  return `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent(options)}`;
}

/** Opens one connection. An idle connection that dies must not end the process. */
export async function connectClient(config: PrimaryClientConfig): Promise<Client> {
  const client = new PrimaryClient(config);
  client.on("error", () => {
    // The next query on this client fails with the same news, and its caller acts on that.
  });
  await client.connect();
  return client;
}

/** Opens a connection for the length of one piece of work. */
export async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(config);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {
      // The work is done or has failed with its own error; a connection that is already gone needs no closing.
    });
  }
}

function exactParser(oid: number, format: "text" | "binary" = "text"): (value: string) => unknown {
  if (format === "text") {
    if (oid === OID.int8) return BigInt;
    if (oid === OID.date) return String;
    if (oid === OID.int8Array) return (value) => textArray(value).map((item) => (item === null ? null : BigInt(item)));
    if (oid === OID.dateArray || oid === OID.numericArray) return textArray;
  }
  return types.getTypeParser(oid, format);
}

function textArray(value: string): (string | null)[] {
  const parse: (text: string) => (string | null)[] = types.getTypeParser(OID.textArray, "text");
  return parse(value);
}
