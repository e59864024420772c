// The meaning of a failed call to an upstream over HTTP, and the part of its message that may be shown.

import type { UpstreamFailure } from "../chat-upstream.ts";
import { isForbiddenContent, readErrorWords, refusalReason } from "./refusals.ts";
import { scrub } from "./scrub.ts";

/** Statuses that mean that the request itself is wrong. */
export const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** The status with which some (OpenRouter, xAI) refuse content, and others a credential of ours. */
const FORBIDDEN = 403;

/** A proxy before the model stopped waiting for its answer: 504, and 524 of Cloudflare. The model was at work. */
const GAVE_UP_WAITING: ReadonlySet<number> = new Set([504, 524]);

/** What a failure with a code that is no refusal can have cost. */
export function costOfCode(code: number): Pick<UpstreamFailure, "kind" | "timedOut"> {
  return GAVE_UP_WAITING.has(code) ? { kind: "perhaps_billed", timedOut: true } : { kind: "unbilled" };
}

/** What an answer with another status than 2xx means. */
export function failureOfStatus(status: number, body: string, retryAfterSeconds: number | undefined): UpstreamFailure {
  const reason = `the upstream answered ${status}`;
  if (REFUSED.has(status) || status === FORBIDDEN) {
    const words = readErrorWords(body);
    // Of a gateway's error and the provider's error inside it, the inner one has more facts.
    const message = scrub(words.messages.at(-1) ?? "") ?? "The upstream refused the request";
    if (status === FORBIDDEN) {
      if (isForbiddenContent(words))
        return { kind: "refused", reason, message, refusedFor: "content_policy_violation" };
    } else {
      const refusedFor = refusalReason(words);
      return { kind: "refused", reason, message, ...(refusedFor === null ? {} : { refusedFor }) };
    }
  }
  return { ...costOfCode(status), reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** What an error below HTTP means. A request that has not left us cannot have cost anything. */
export function failureOfError(error: Error, sent: boolean): UpstreamFailure {
  const code = "code" in error ? String(error.code) : error.name;
  const timedOut = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT";
  return {
    kind: sent ? "perhaps_billed" : "unbilled",
    reason: `the call failed ${sent ? "after" : "before"} the request was sent: ${code}`,
    ...(timedOut ? { timedOut } : {}),
    cause: error,
  };
}

/** Seconds to wait, from `retry-after-ms` or from `retry-after` as seconds or as a date. */
export function retryAfterOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  const ms = Number(headers["retry-after-ms"]);
  if (headers["retry-after-ms"] !== undefined && Number.isFinite(ms) && ms >= 0) return ms / 1_000;
  const header = headers["retry-after"];
  if (typeof header !== "string") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds : undefined;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1_000);
}
