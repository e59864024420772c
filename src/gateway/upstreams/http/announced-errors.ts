import { CHAT_USAGE } from "../../metering/chat-usage.ts";
import { reportsTokens } from "../../metering/reports-tokens.ts";
import type { UsageReader } from "../../metering/usage-reader.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { UpstreamFailure } from "../chat-upstream.ts";
import { costOfCode, REFUSED } from "./failures.ts";
import { reasonByCode, refusalReason, wordsOfError } from "./refusals.ts";

/**
 * What an error object that came with status 200 means, given the usage beside it or before it, in whose protocol `reader` reads. Its
 * text stays with us, but for the reason of a refusal.
 */
export function failureAnnounced(
  error: JsonObject | null,
  usage: unknown,
  reader: UsageReader = CHAT_USAGE,
): UpstreamFailure {
  const code = Number(error?.["code"] ?? error?.["status"]);
  const reason = `the upstream answered 200 with an error${Number.isNaN(code) ? "" : ` ${code}`}`;
  const isRefusal = REFUSED.has(code);
  const words = wordsOfError(error);
  // Without a number that means a wrong request, a code is needed: limits and breakdowns have the same wording.
  const refusedFor = isRefusal ? refusalReason(words) : reasonByCode(words);
  if (!isRefusal && refusedFor === null) {
    // An upstream that has counted tokens charges for them.
    return {
      ...costOfCode(code),
      ...(reportsTokens(isObject(usage) ? usage : null, reader) ? { kind: "perhaps_billed" } : {}),
      reason,
    };
  }
  const refusal = { kind: "refused", reason, message: "The upstream refused the request" } as const;
  return refusedFor === null ? refusal : { ...refusal, refusedFor };
}
