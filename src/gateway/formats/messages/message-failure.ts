import { MESSAGES_USAGE } from "../../metering/messages-usage.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import type { UpstreamFailure } from "../../upstreams/chat-upstream.ts";
import { failureAnnounced } from "../../upstreams/http/announced-errors.ts";

/** What an error in place of a message means. */
export function failureOfMessage(error: JsonObject | null, usage: unknown): UpstreamFailure {
  return failureAnnounced(error, usage, MESSAGES_USAGE);
}
