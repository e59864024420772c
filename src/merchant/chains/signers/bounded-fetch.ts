// A call of a key service: no redirect, a bound on the answer, and no error that quotes a credential.

/** The most bytes of an answer that are read. */
const MOST_BYTES = 65_536;
/** Of a service's own error, so much is reported. */
const MOST_REPORTED = 300;

/** What a service answers with a status of an error. */
export class ServiceRefusal extends Error {
  readonly status: number;

  constructor(service: string, status: number, stated: string) {
    super(`${service} answered ${status}: ${stated.replaceAll(/\s+/g, " ").slice(0, MOST_REPORTED)}`);
    this.status = status;
  }
}

/** Calls a service and reads its JSON. Errors: ServiceRefusal; an answer that is too long, no object, or absent. */
export async function callService(
  service: string,
  url: string,
  request: { method: string; headers: Readonly<Record<string, string>>; body?: string; signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> {
  let response: Response;
  try {
    response = await fetch(url, { ...request, redirect: "error" });
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
    throw new Error(`${service} cannot be reached: ${why}`, { cause: error });
  }
  const text = await readBounded(response, service);
  if (!response.ok) throw new ServiceRefusal(service, response.status, text);
  const answer = parsed(text);
  if (answer === null) throw new Error(`${service} answered no JSON object`);
  return answer;
}

async function readBounded(response: Response, service: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MOST_BYTES) throw new Error(`${service} answered more than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** The bytes of a field in base64. Errors: it has none. */
export function bytesOf(answer: Readonly<Record<string, unknown>>, name: string): Buffer {
  const value = answer[name];
  if (typeof value !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) throw new Error(`the answer has no ${name}`);
  return Buffer.from(value, "base64");
}

/** A field that is a text. Errors: it is none. */
export function textOf(answer: Readonly<Record<string, unknown>>, name: string): string {
  const value = answer[name];
  if (typeof value !== "string" || value === "") throw new Error(`the answer has no ${name}`);
  return value;
}
