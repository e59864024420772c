// The gateway as saldo-agents asks it: the catalog and the balance of a key. The key goes to the host that was named and to
// no other.

import type { Model } from "./agent.ts";
import { printable } from "./printable.ts";

/** A model with what it costs, in rupiah per million tokens. */
export type CatalogModel = Model & { readonly price: { readonly input: string; readonly output: string } | null };

/** The caller has to change something: the key, the model, the address or the words. The process exits with 2. */
export class Refused extends Error {}

/** The gateway could not be asked. */
export class GatewayAway extends Error {}

const WITHIN_MS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address of the API, with `/v1`, from an address with or without it. Errors: Refused. */
export function apiUrlOf(baseUrl: string, { insecure }: { insecure: boolean }): string {
  const url = parseUrl(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Refused(`${printable(baseUrl)} is not an address such as https://api.example.com.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new Refused("The address may hold a host and a path, and nothing else.");
  }
  if (!isReadAsItStands(url.pathname)) throw new Refused("The address has a part that the agents would not all read.");
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && !insecure) {
    throw new Refused(
      `Over http:// every machine on the way to ${url.hostname} can read the key. Use https://, or --insecure.`,
    );
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "");
  return `${url.origin}${path}/v1`;
}

/** Every model that the key may call and that converses. Errors: Refused for a key that is not accepted, GatewayAway. */
export async function readCatalog(apiUrl: string, key: string): Promise<CatalogModel[]> {
  const { data } = await ask(`${apiUrl}/models`, key);
  if (!Array.isArray(data)) throw new GatewayAway(`${apiUrl} answers, but not as a model gateway does.`);
  return data.flatMap(modelOf);
}

/** The balance that the key can still use, in rupiah; null where the gateway does not report it. Errors: as readCatalog. */
export async function readBalance(apiUrl: string, key: string): Promise<string | null> {
  const { available } = await ask(`${apiUrl}/balance`, key, { mayBeMissing: true });
  return typeof available === "string" && /^-?\d{1,20}(\.\d{1,20})?$/.test(available) ? available : null;
}

/** The model of that id. Errors: Refused. */
export function findModel(models: readonly CatalogModel[], id: string): CatalogModel {
  const model = models.find((each) => each.id === id);
  if (model === undefined) {
    const known = models.map((each) => each.id).slice(0, 20);
    throw new Refused(`There is no model ${printable(id)} here. There is ${printable(known.join(", ")) || "none"}.`);
  }
  if (!isSafeInSettings(model)) {
    throw new Refused(`The model ${printable(id)} has a name that not all agents would read as it is.`);
  }
  return model;
}

/** Whether all agents leave the names of a model in their settings as they are. */
export function isSafeInSettings({ id, name }: CatalogModel): boolean {
  return [id, name].every(isReadAsItStands);
}

/** Whether all agents leave a text in their settings as it is; some put variables, files or secrets in place of these. */
function isReadAsItStands(text: string): boolean {
  return text.isWellFormed() && !/\$\w|\$\{|\{env:|\{file:/.test(text);
}

async function ask(url: string, key: string, { mayBeMissing = false } = {}): Promise<Record<string, unknown>> {
  // The characters of a token in a header (RFC 6750), which no agent reads as anything else.
  if (!/^[\w.~+/-]+=*$/.test(key)) throw new Refused("The key has characters that no key has.");
  const response = await send(url, key);
  if (response.status === 401 || response.status === 403) throw new Refused("The gateway does not accept this key.");
  if (mayBeMissing && response.status === 404) return {};
  if (response.status !== 200) throw new GatewayAway(`${url} answered with status ${response.status}.`);
  try {
    const body: unknown = JSON.parse(await readText(response));
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  } catch (error) {
    throw new GatewayAway(`${url} did not answer with JSON.`, { cause: error });
  }
  throw new GatewayAway(`${url} did not answer with a JSON object.`);
}

/** What is sent; nothing: the address is only read. */
export type Sent = {
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly withinMs: number;
};

/** Sends a request, and follows redirects within the host. Errors: Refused, GatewayAway. */
export async function send(first: string, key: string, sent?: Sent): Promise<Response> {
  const signal = AbortSignal.timeout(sent?.withinMs ?? WITHIN_MS);
  const common = { authorization: `Bearer ${key}`, accept: "application/json" };
  const posted = {
    method: "POST",
    body: JSON.stringify(sent?.body),
    headers: { ...common, ...sent?.headers, "content-type": "application/json" },
  };
  const request = sent === undefined ? { headers: common } : posted;
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(url, { ...request, redirect: "manual", signal }).catch((error: unknown) => {
      throw new GatewayAway(`${new URL(url).origin} cannot be reached (${reasonOf(error)}).`, { cause: error });
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = parseUrl(location, url);
    if (next === null) throw new GatewayAway(`${new URL(url).origin} points to what is not an address.`);
    if (next.origin !== new URL(url).origin) {
      throw new Refused(
        `The gateway points to ${printable(next.origin)}. The key is not sent to another host; name it yourself.`,
      );
    }
    url = next.href;
  }
  throw new GatewayAway(`${first} points from one address to the next.`);
}

/** The text of an answer. Errors: GatewayAway. */
export async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw new GatewayAway("The answer is too long.");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function modelOf(entry: unknown): CatalogModel[] {
  if (typeof entry !== "object" || entry === null) return [];
  const fields = entry as Record<string, unknown>;
  const { id, name, context_length: context, max_output_tokens: output } = fields;
  if (typeof id !== "string" || id === "") return [];
  // An older gateway has no kinds, and conversations only.
  if ((fields["kind"] ?? "chat") !== "chat") return [];
  const modalities = Object(fields["architecture"]).input_modalities as unknown;
  const { input: inputPrice, output: outputPrice } = Object(fields["pricing"]) as Record<string, unknown>;
  const hasPrice = typeof inputPrice === "string" && typeof outputPrice === "string";
  return [
    {
      id,
      name: typeof name === "string" && name !== "" ? name : id,
      contextLength: tokens(context, 131_072),
      maxOutputTokens: tokens(output, 16_384),
      inputModalities: Array.isArray(modalities) ? modalities.filter((each) => typeof each === "string") : ["text"],
      price: hasPrice ? { input: inputPrice, output: outputPrice } : null,
    },
  ];
}

/** Gateways that do not report it are taken for middling ones. */
function tokens(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise;
}

function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  return error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : "no connection";
}
