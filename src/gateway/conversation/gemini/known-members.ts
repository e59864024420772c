// Which members of a request pass to Google: those that are read, checked or known to change no price. Whatever is new next month may
// have another price, and is refused by its name until it is known here.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { camelName, type Members } from "./members.ts";

/** Members that choose another model or another output, or that Google keeps. They lie in the body or in its configuration. */
const REFUSED = [
  "generationOutputConfig",
  "continuationToken",
  "automaticContinuation",
  "modelSelectionConfig",
  "audioTranscriptionConfig",
] as const;

/** Refuses what changes the price wherever it lies. */
export function refuseUnpriced(members: Members): void {
  for (const name of REFUSED) {
    if (members.value(name) === null) continue;
    members.refuse(name, "unpriced", "is not offered, because it changes what the upstream charges");
  }
}

const BODY: ReadonlySet<string> = new Set(
  "model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent serviceTier store labels modelArmorConfig".split(
    " ",
  ),
);
const CONFIG: ReadonlySet<string> = new Set(
  (
    "maxOutputTokens temperature topP topK stopSequences candidateCount responseMimeType responseSchema responseJsonSchema " +
    "_responseJsonSchema thinkingConfig seed presencePenalty frequencyPenalty responseLogprobs logprobs responseModalities speechConfig " +
    "imageConfig routingConfig modelConfig mediaResolution enableEnhancedCivicAnswers"
  ).split(" "),
);

/** The first member that is not known here, with its path. Null: all are. Nulls are as good as absent. */
export function unknownMember(body: JsonObject): string | null {
  const config = body["generationConfig"] ?? body["generation_config"];
  const inConfig = isObject(config) ? unknownIn(config, CONFIG) : null;
  return unknownIn(body, BODY) ?? (inConfig === null ? null : `generationConfig.${inConfig}`);
}

function unknownIn(object: JsonObject, known: ReadonlySet<string>): string | null {
  const found = Object.keys(object).find(
    (name) => object[name] !== null && !known.has(name) && !known.has(camelName(name)),
  );
  return found === undefined ? null : camelName(found);
}
