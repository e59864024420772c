// Reads a request of Google's Gemini protocol into a conversation. What only changes how Google's own service works is left out,
// because clients send some of it always; what it would keep or charge for is refused by its field.

import type { JsonObject } from "../../request/field-rules.ts";
import type { Conversation } from "../conversation.ts";
import { Problems } from "../problems.ts";
import { Members } from "./members.ts";
import { readConfig } from "./read-config.ts";
import { refuseUnpriced } from "./known-members.ts";
import { readContents } from "./read-contents.ts";
import { readInstructions } from "./read-parts.ts";
import { readToolChoice, readTools } from "./read-tools.ts";

const MAX_MODEL_ID_LENGTH = 200;

/** What is in the path of a request and not in its body. */
export type GeminiTarget = { readonly model: string; readonly stream: boolean };

export type GeminiRequest = {
  readonly conversation: Conversation;
  /** Whether the client wants to see what the model thinks. */
  readonly showsThoughts: boolean;
};

/** Reads and checks a body. Errors: ValidationError naming each field that is wrong. */
export function readGeminiRequest(json: JsonObject, { model, stream }: GeminiTarget): GeminiRequest {
  const problems = new Problems();
  if (model === "" || model.length > MAX_MODEL_ID_LENGTH) {
    problems.add("model", "length", `must have 1 to ${MAX_MODEL_ID_LENGTH} characters`);
  }
  const body = new Members(json, "", problems);
  refuseProviderMembers(body);
  const system = readInstructions(body);
  const turns = readContents(body);
  const { showsThoughts, ...config } = readConfig(body);
  const choice = readToolChoice(body, readTools(body));
  problems.refuseAny();
  return { conversation: { model, stream, system, turns, ...choice, ...config, cacheKey: null }, showsThoughts };
}

const TIERS: ReadonlySet<unknown> = new Set(["standard", "STANDARD", "SERVICE_TIER_UNSPECIFIED", "unspecified"]);

/** All customers share the operator's account at a provider, and what has no price cannot be billed. */
function refuseProviderMembers(body: Members): void {
  if (body.value("cachedContent") !== null && body.value("cachedContent") !== "") {
    body.refuse("cachedContent", "stored", "is not offered, because it is kept in the provider's account");
  }
  refuseUnpriced(body);
  const tier = body.value("serviceTier");
  if (tier !== null && !TIERS.has(tier)) {
    body.refuse("serviceTier", "unpriced", "is not offered, because it changes what the upstream charges");
  }
  if (body.value("store") === true) {
    body.refuse("store", "stored", "is not offered, because it is kept in the provider's account");
  }
  if (body.value("modelArmorConfig") !== null) {
    body.refuse(
      "modelArmorConfig",
      "unpriced",
      "is not offered, because the upstream charges for it apart from tokens",
    );
  }
}
