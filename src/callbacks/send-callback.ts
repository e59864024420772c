// One callback on the wire. The receiver is a foreign server: nothing of it is trusted, waited for or read without a
// bound, and no redirect is followed.

import { createHmac } from "node:crypto";
import { Client } from "undici";
import { createDnsLookup } from "../outbound/dns-lookup.ts";
import { publicConnector, type OutsideRules } from "../outbound/public-connector.ts";
import { failpoint } from "../kernel/failpoint.ts";
import { errorCode } from "../database/system-error.ts";
import { problemTexts } from "./delivery-reasons.ts";

const resolveName = createDnsLookup();
const CONNECT_WITHIN_MS = 5_000;
/** The whole of it, from resolving the name to the last byte of the answer. */
export const ATTEMPT_WITHIN_MS = 10_000;
const MAX_ANSWER_BYTES = 4_096;
const MAX_HEADER_BYTES = 16 * 1_024;
/** How much of a wrong answer is shown to the receiver's owner. */
const SHOWN_CHARACTERS = 100;
/** Answers of a receiver that is away, from it or from a proxy before it. */
const AWAY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

export type Callback = {
  readonly url: URL;
  readonly eventId: string;
  /** Empty: the receiver has none. */
  readonly token: string;
  readonly secret: string;
  /** Whether any answer of 2xx accepts it. Else only `{"message":"OK"}` does. */
  readonly takesAnySuccess: boolean;
  /** The JSON that is sent and signed. */
  readonly body: string;
  /** When it is signed, in milliseconds of Unix time. */
  readonly nowMs: number;
  /** Whether this machine may be called. */
  readonly allowLoopback: boolean;
};

/** The result of an attempt. `problem` null: the receiver has accepted it. `isAway`: the receiver itself has not answered. */
export type CallbackAnswer = {
  readonly httpStatus: number | null;
  readonly problem: string | null;
  readonly isAway: boolean;
};

/** The value of `x-saldo-signature`. */
export function signatureOf(body: string, { secret, unixSeconds }: { secret: string; unixSeconds: number }): string {
  return `t=${unixSeconds},v1=${createHmac("sha256", secret).update(`${unixSeconds}.${body}`).digest("hex")}`;
}

/** Sends a callback and reads the answer. It never throws for what the receiver or the network does. */
export async function sendCallback(
  callback: Callback,
  { signal, withinMs = ATTEMPT_WITHIN_MS, resolve = resolveName }: SendOptions,
): Promise<CallbackAnswer> {
  const { url, allowLoopback } = callback;
  const deadline = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal === undefined ? [] : [signal])]);
  // A connection of its own: nothing is kept of a receiver, and none holds connections that another waits for.
  const client = new Client(url.origin, {
    connect: publicConnector({ timeoutMs: CONNECT_WITHIN_MS, allowLoopback, resolve }),
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
  });
  try {
    const response = await client.request({
      method: "POST",
      path: `${url.pathname}${url.search}`,
      headers: headersOf(callback),
      body: callback.body,
      signal: deadline,
    });
    failpoint?.("after-callback-sent");
    return judge(response.statusCode, await readStart(response.body), callback);
  } catch (error) {
    return { httpStatus: null, problem: problemOf(error, deadline), isAway: true };
  } finally {
    await client.destroy();
  }
}

export type SendOptions = {
  /** Ends the attempt early. */
  readonly signal?: AbortSignal;
  readonly withinMs?: number;
} & Pick<OutsideRules, "resolve">;

function headersOf({ body, secret, nowMs, token, eventId }: Callback): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": "saldo",
    ...(token === "" ? {} : { "x-callback-token": token }),
    "x-saldo-signature": signatureOf(body, { secret, unixSeconds: Math.floor(nowMs / 1_000) }),
    "x-saldo-event-id": eventId,
  };
}

/** The beginning of the answer; leaving the loop ends the connection. Null: there was more than is read. */
async function readStart(body: AsyncIterable<Buffer>): Promise<{ text: string; isWhole: boolean }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) break;
  }
  const text = Buffer.concat(parts).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
  return { text, isWhole: bytes <= MAX_ANSWER_BYTES };
}

function judge(
  httpStatus: number,
  { text, isWhole }: { text: string; isWhole: boolean },
  { token, secret, takesAnySuccess }: Callback,
): CallbackAnswer {
  const isAccepted = takesAnySuccess || (isWhole && saysOk(text));
  if (httpStatus >= 200 && httpStatus < 300 && isAccepted) return { httpStatus, problem: null, isAway: false };
  // A receiver may answer with what it was sent.
  const shown = token === "" ? text : text.replaceAll(token, "[token]");
  const start = shown.replaceAll(secret, "[secret]").slice(0, SHOWN_CHARACTERS);
  const isAway = AWAY.has(httpStatus);
  const problem = takesAnySuccess
    ? problemTexts.statusRefused(httpStatus, start)
    : isWhole
      ? problemTexts.notAccepted(httpStatus, start)
      : problemTexts.answerTooLong(httpStatus, start);
  return { httpStatus, problem, isAway };
}

function saysOk(text: string): boolean {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null && "message" in answer && answer.message === "OK";
  } catch {
    return false; // not JSON, so not the answer that was agreed on
  }
}

function problemOf(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) {
    const { reason } = deadline as { reason: unknown };
    const isLate = reason instanceof Error && reason.name === "TimeoutError";
    return isLate ? problemTexts.timedOut : problemTexts.processStopped;
  }
  const code = errorCode(error);
  if (code === "SALDO_PRIVATE_ADDRESS") return problemTexts.privateAddress;
  return problemTexts.unreachable(code);
}
