// A request to the gateway as code, and its commands for a terminal. Every value becomes a word of the shell: a model id or a text that
// looks like code stays a text.

/** One message of OpenAI's JSON format. */
export type SnippetMessage = { readonly role: "system" | "user" | "assistant"; readonly content: string };

/** The request of the code. */
export type SnippetRequest = {
  readonly model: string;
  readonly messages: readonly SnippetMessage[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly stream?: boolean;
};

/** Where the code runs: our address and, right after it was made, the key itself. */
export type SnippetPlace = { readonly origin: string; readonly secret: string | null };

/** The variable that every snippet reads the key from. */
export const KEY_VARIABLE = "SALDO_API_KEY";

/** The base URL for clients of the OpenAI format. */
export function apiUrlOf(origin: string): string {
  return `${origin}/v1`;
}

/** A line that sets the key for the programs of this terminal. */
export function exportLine(secret: string | null): string {
  return `export ${KEY_VARIABLE}=${shellWord(secret ?? "gw_…")}`;
}

/** A command that posts a body, with more headers where a format has them. */
export function postCode(url: string, body: object, { secret }: SnippetPlace, headers: readonly string[] = []): string {
  const all = [`Authorization: Bearer ${secret ?? `$${KEY_VARIABLE}`}`, ...headers, "Content-Type: application/json"];
  const lines = [
    `curl ${shellWord(url)}`,
    ...all.map((each) => `  -H "${each}"`),
    `  -d ${quoted(JSON.stringify(body))}`,
  ];
  return lines.join(" \\\n");
}

/** A word of a shell's command line: bare where no character is special, else in quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
