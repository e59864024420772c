// How adapters call their provider: one bounded request at a time, JSON both ways, the key in a header and nowhere else. Errors
// have our own texts: an answer's text may name payers, and a provider's error may repeat what it was sent.

import { Agent, request } from "undici";
import { PaymentProviderError } from "./payment-provider.ts";

const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_CONNECTIONS = 16;
const MAX_DECIMAL_CHARACTERS = 40;
const MICRO = 1_000_000n;

export type ProviderClientOptions = {
  /** Basic authentication, as both providers want it: the key and an empty password. */
  readonly key: string;
  /** From the first byte of connecting to the last of the answer. */
  readonly timeoutMs: number;
};

/** A parsed JSON object of a provider. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An answer with a status that the caller listed as understood. `body` null: it was no JSON object or array. */
export type ProviderAnswer = { readonly status: number; readonly body: unknown };

type Call = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: object;
  /** Statuses besides 2xx that mean something to the caller. */
  readonly understood?: readonly number[];
};

export class ProviderClient {
  readonly #agent: Agent;
  readonly #authorization: string;
  readonly #timeoutMs: number;

  constructor({ key, timeoutMs }: ProviderClientOptions) {
    this.#agent = new Agent({
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
    this.#authorization = `Basic ${Buffer.from(`${key}:`).toString("base64")}`;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls the provider once. Errors: PaymentProviderError. */
  async call({ method, url, body, understood = [] }: Call): Promise<ProviderAnswer> {
    const { status, text } = await this.#send(method, url, body);
    const isFine = (status >= 200 && status < 300) || understood.includes(status);
    if (!isFine) {
      const again = status >= 500 || status === 429 || status === 408;
      throw new PaymentProviderError(again ? "away" : "refused", `the provider answered ${status}`);
    }
    return { status, body: parse(text) };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #send(
    method: Call["method"],
    url: string,
    body: object | undefined,
  ): Promise<{ status: number; text: string }> {
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: {
          accept: "application/json",
          authorization: this.#authorization,
          "user-agent": "saldo",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (error) {
      // The error itself may hold the request; its code is enough.
      const code = error instanceof Error ? ("code" in error ? String(error.code) : error.name) : "unknown";
      throw new PaymentProviderError("away", `the provider could not be asked: ${code}`);
    }
  }
}

/** Parses JSON and keeps amounts as the digits they were written with. Null: it is no JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === "number" ? (context?.source ?? String(value)) : value,
    ) as unknown;
  } catch {
    return null;
  }
}

/** Whether a parsed value is an object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * An answer's content, once it is known to be an object. `kind`: what it means when it is none, `refused` where the call has
 * made something. Errors: PaymentProviderError.
 */
export function objectOf(answer: unknown, kind: PaymentProviderError["kind"] = "away"): JsonObject {
  if (!isObject(answer)) throw unreadable(kind);
  return answer;
}

/** The error for an answer that lacks a required member. */
export function unreadable(kind: PaymentProviderError["kind"]): PaymentProviderError {
  return new PaymentProviderError(kind, "the provider's answer cannot be read");
}

/** Whether the amounts of an object are rupiah; a provider that names no currency means it. */
export function isInRupiah(object: JsonObject): boolean {
  return object["currency"] === undefined || textOf(object, "currency") === "IDR";
}

/** Micro-rupiah as the whole rupiah of a request, which are far below what a JSON number holds exactly. */
export function wholeRupiah(amount: bigint): number {
  return Number(amount / MICRO);
}

/** A member that is a text, numbers among them; an empty text where it is neither. */
export function textOf(object: JsonObject, member: string): string {
  const value = object[member];
  return typeof value === "string" ? value : "";
}

/** Micro-rupiah of a decimal text in rupiah; null where it is none. */
export function rupiah(text: string): bigint | null {
  if (text.length > MAX_DECIMAL_CHARACTERS) return null;
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(6, "0"));
}

/** The address of a payer's page, as a provider sent it. Errors: PaymentProviderError where a browser should not go there. */
export function pageOf(text: string): string {
  const url = text.length <= 2_048 ? URL.parse(text) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url === null || !isSafe) throw new PaymentProviderError("refused", "the provider returned no payment page");
  return url.href;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
