// The members of a request that its provider would keep, run or charge for. All customers share the operator's account at a
// provider, and what has no price cannot be billed.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Problems } from "../problems.ts";

const UNPRICED = "is not offered, because it changes what the upstream charges";
const KEPT = "is not offered, because it is kept in the provider's account";
const SENT_ELSEWHERE = "is not offered, because other models and servers have no price here";

type Member = { readonly message: string; readonly isHarmless: (value: unknown) => boolean };

const never = (): boolean => false;
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const oneOf =
  (...harmless: string[]) =>
  (value: unknown): boolean =>
    harmless.some((each) => each === value);

const MEMBERS: Readonly<Record<string, Member>> = {
  service_tier: { message: UNPRICED, isHarmless: oneOf("auto", "default", "standard_only", "standard") },
  speed: { message: UNPRICED, isHarmless: oneOf("standard") },
  inference_geo: { message: UNPRICED, isHarmless: oneOf("global") },
  compaction: { message: UNPRICED, isHarmless: never },
  fallbacks: { message: SENT_ELSEWHERE, isHarmless: isEmptyList },
  mcp_servers: { message: SENT_ELSEWHERE, isHarmless: isEmptyList },
  container: { message: KEPT, isHarmless: never },
  thread: { message: KEPT, isHarmless: never },
  user_profile_id: { message: KEPT, isHarmless: never },
  billing_policy: { message: UNPRICED, isHarmless: never },
  fallback_credit_token: { message: UNPRICED, isHarmless: never },
};

/** Names each such member of a body. Null is as good as absent. */
export function refuseProviderMembers(body: JsonObject, problems: Problems): void {
  for (const [name, { message, isHarmless }] of Object.entries(MEMBERS)) {
    const value = body[name];
    if (value === undefined || value === null || isHarmless(value)) continue;
    problems.add(name, "unpriced", message);
  }
  const diagnostics = body["diagnostics"];
  if (isObject(diagnostics) && (diagnostics["previous_message_id"] ?? null) !== null) {
    problems.add("diagnostics.previous_message_id", "unpriced", KEPT);
  }
  refuseCompaction(body["context_management"], problems);
}

/** Other edits only make a prompt shorter, and are left out. A compaction is an answer of its own. */
function refuseCompaction(management: unknown, problems: Problems): void {
  const edits = (management as { edits?: unknown } | null | undefined)?.edits;
  if (!Array.isArray(edits)) return;
  for (const [index, edit] of edits.entries()) {
    const type: unknown = (edit as { type?: unknown } | null)?.type;
    if (typeof type === "string" && type.startsWith("compact")) {
      problems.add(`context_management.edits[${index}]`, "unpriced", UNPRICED);
    }
  }
}
