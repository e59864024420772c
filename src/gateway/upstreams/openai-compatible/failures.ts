// What a failed call to an OpenAI-compatible upstream means, and what of its words may be shown.

import type { UpstreamFailure } from "../chat-upstream.ts";
import { isObject } from "../../request/field-rules.ts";

/** Statuses with which the upstream says that the request itself is wrong. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);
const MAX_MESSAGE_CHARACTERS = 300;

/** What an answer with another status than 2xx means. */
export function failureOfStatus(status: number, body: string, retryAfterSeconds: number | undefined): UpstreamFailure {
  const reason = `the upstream answered ${status}`;
  if (REFUSED.has(status)) {
    return { kind: "refused", reason, message: scrub(messageOf(body)) ?? "The upstream refused the request" };
  }
  return { kind: "unbilled", reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** What an error below HTTP means. A request that has not left us cannot have cost anything. */
export function failureOfError(error: Error, sent: boolean): UpstreamFailure {
  const code = "code" in error ? String(error.code) : error.name;
  return {
    kind: sent ? "perhaps_billed" : "unbilled",
    reason: `the call failed ${sent ? "after" : "before"} the request was sent: ${code}`,
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
  const said = headers["retry-after"];
  if (typeof said !== "string") return undefined;
  const seconds = Number(said);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds : undefined;
  const at = Date.parse(said);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1_000);
}

/** An upstream's message without addresses, keys or control characters, and not long. Null: nothing is left. */
export function scrub(message: string): string | null {
  const clean = message
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "[address]")
    .replace(/\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|ai|dev|cloud|local|internal|test)\b\S*/gi, "[address]")
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, "[address]")
    .replace(/\bBearer\s+\S+/gi, "[secret]")
    .replace(/\b(?:sk|pk|gsk|xai|key|org|proj|AIza)[-_][\w-]{4,}\S*/g, "[secret]")
    .replace(/[\w*-]*[\w-]{24,}[\w*-]*/g, "[secret]")
    // eslint-disable-next-line no-control-regex -- these are what is removed
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\.$/, "");
  if (clean === "") return null;
  return clean.length <= MAX_MESSAGE_CHARACTERS ? clean : `${clean.slice(0, MAX_MESSAGE_CHARACTERS)}…`;
}

/** The message inside an error body, in the shapes upstreams use. */
function messageOf(body: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return ""; // A page or a fragment: nothing in it was written for a caller.
  }
  // Gemini's endpoint wraps its error in an array.
  const answer: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(answer)) return "";
  const error = answer["error"];
  const message = isObject(error) ? error["message"] : (answer["message"] ?? answer["detail"] ?? error);
  return typeof message === "string" ? message : "";
}
