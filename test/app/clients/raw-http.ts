// HTTP without a client's manners: headers that come twice, bodies of any bytes, requests that are never finished.

import { type IncomingMessage, request } from "node:http";

export type RawRequest = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent in the given pieces. The request ends after them, or is left open by its option. */
  readonly body?: Iterable<string | Buffer>;
};

export type RawAnswer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** Sends one request on a connection of its own. A server may answer before it has read everything. */
export function sendRaw(
  baseUrl: string,
  { method = "POST", path, headers = {}, body = [] }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const lines = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
    const sent = request(new URL(path, baseUrl), { method, agent: false, headers: lines });
    let isAnswered = false;
    sent.on("response", (response) => {
      isAnswered = true;
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        sent.destroy();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString("utf8"),
        });
      });
    });
    // The answer to a body that is too large closes the connection while it is still being written.
    sent.on("error", (error) => isAnswered || reject(error));
    for (const piece of body) sent.write(piece);
    sent.end();
  });
}

/** The fields of a refusal in the tables of errors. */
export type Refusal = {
  readonly status: number;
  readonly error: string;
  /** The wrong fields, each with its rule and the reason. */
  readonly namesFields: boolean;
  /** It has the merchants' shape. */
  readonly inEnvelope: boolean;
};

/** The refusal that is documented for a code: a validation error names fields, no other does. */
export function refused(status: number, error: string, { inEnvelope = false } = {}): Refusal {
  return { status, error, namesFields: error === "validation_error", inEnvelope };
}

type ErrorBody = { error?: unknown; message?: unknown; details?: unknown; statusCode?: unknown };

/** Reads a refusal in the shape of area A or, in an envelope, of area B. Errors: Error for any other shape. */
export function refusalOf({ status, headers, body }: RawAnswer): Refusal {
  const isJson = headers["content-type"]?.startsWith("application/json") === true;
  const requestId = String(headers["x-request-id"]);
  const parsed = (isJson ? JSON.parse(body) : {}) as ErrorBody & { meta?: ErrorBody; data?: unknown };
  const { error, message, details, statusCode = status } = parsed.meta ?? parsed;
  const isDocumented =
    /^[0-9a-f-]{36}$/.test(requestId) && typeof message === "string" && statusCode === status && !("data" in parsed);
  if (!isDocumented || typeof error !== "string") throw new Error(`no documented refusal: ${status} ${body}`);
  const namesFields = Array.isArray(details) && details.length > 0 && details.every(isProblem);
  return { status, error, namesFields, inEnvelope: parsed.meta !== undefined };
}

function isProblem(detail: unknown): boolean {
  const { field, rule, message } = detail as Record<string, unknown>;
  return [field, rule, message].every((text) => typeof text === "string");
}
