// A Gemini request for an upstream of Google's: the client's own bytes, with what has to differ there. The model, and whether the answer
// streams, are in the path of the call. Safety settings, seeds and all else that is known pass.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { scanObject, type Span } from "../../request/json-scan.ts";
import { memberIn, objectsIn, type ScannedObject } from "../../request/object-list.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import { NOT_KNOWN } from "../known-names.ts";
import type { NativeFacts, NativeRequest } from "../native-request.ts";
import { unknownMember } from "./known-members.ts";
import { pictureTokensOf } from "./media-resolution.ts";
import { snakeName } from "./members.ts";
import { refuseForGemini } from "./refuse-for-gemini.ts";
import { isOwnSignature, NO_SIGNATURE, readSignature } from "./opaque-signature.ts";

/** A request for Google itself. `json`: the checked body. Null: it is not in Google's own form, and has to be written in it. */
export function nativeGemini(json: JsonObject, body: Buffer): NativeRequest | null {
  if (!hasOwnForm(json)) return null;
  return {
    thinks: true,
    cacheWrites: "none",
    cacheField: "",
    thoughtBudget: 0,
    pictureTokens: pictureTokensOf(json),
    check() {
      const unknown = unknownMember(json);
      if (unknown !== null) throw refuseForGemini(unknown, "unknown", NOT_KNOWN);
    },
    isSealed: isSealed(json),
    write: (facts) => ({ body: nativeBody(body, facts), headers: [] }),
  };
}

/** Instructions that are a text, or a part without its content, are read here and refused by Google. */
function hasOwnForm(json: JsonObject): boolean {
  const instructions = json["systemInstruction"] ?? json["system_instruction"] ?? null;
  return instructions === null || (isObject(instructions) && Array.isArray(instructions["parts"]));
}

/** Whether any signature is Google's own. */
function isSealed({ contents }: JsonObject): boolean {
  return objectsOf(contents)
    .flatMap(({ parts }) => objectsOf(parts))
    .map((part) => part["thoughtSignature"] ?? part["thought_signature"])
    .some((signature) => typeof signature === "string" && signature !== NO_SIGNATURE && !isOwnSignature(signature));
}

/** The objects of a list, or the one that stands for it. */
function objectsOf(list: unknown): readonly JsonObject[] {
  return (Array.isArray(list) ? list : [list]).filter(isObject);
}

function nativeBody(body: Buffer, facts: NativeFacts): Buffer {
  const whole = { start: 0, end: body.length, members: scanObject(body).members };
  const edits = [...configEdits(body, whole, facts)];
  for (const { start, end } of spelled(whole, "model")) edits.push({ start, end, text: NULL });
  // They would be in the operator's bill at Google.
  for (const { start, end } of spelled(whole, "labels")) edits.push({ start, end, text: "{}" });
  if (body.includes(OWN_SIGNATURE)) edits.push(...signatureEdits(body, whole, facts));
  return splice(body, edits);
}

/** Google takes a null for a member that is absent. */
const NULL = "null";
const OPEN_BRACE = 0x7b;
/** The base64 of `saldo:`, with which each of our signatures begins. A body without it has none of them. */
const OWN_SIGNATURE = "c2FsZG86";

/** The bound of the output, and no thinking where the model does none: agents always ask for it. */
function configEdits(body: Buffer, whole: ScannedObject, { outputBound, canThink }: NativeFacts): Edit[] {
  const bound = `"maxOutputTokens":${outputBound}`;
  const sent = spelled(whole, "generationConfig");
  const span = sent.find(({ start }) => body[start] === OPEN_BRACE);
  if (span === undefined) {
    const [first] = sent;
    const text = `{${bound}}`;
    if (first !== undefined) return [{ ...first, text }];
    return [insertMembers(body.indexOf(OPEN_BRACE), `"generationConfig":${text}`, false)];
  }
  const { members } = scanObject(body.subarray(span.start, span.end));
  const config = { ...span, members };
  const [cap, other] = spelled(config, "maxOutputTokens");
  const edits: Edit[] =
    cap === undefined
      ? [insertMembers(span.start, bound, members.size === 0)]
      : [{ ...cap, text: String(outputBound) }];
  // Checked before: one of two names has a null.
  if (other !== undefined) edits.push({ ...other, text: NULL });
  if (!canThink) for (const each of spelled(config, "thinkingConfig")) edits.push({ ...each, text: NULL });
  return edits;
}

/** Our own signatures, which Google cannot read: what it has made itself goes back to it, and calls of others are marked as such. */
function signatureEdits(body: Buffer, whole: ScannedObject, { origin }: NativeFacts): Edit[] {
  const contents = spelled(whole, "contents").flatMap((list) => objectsIn(body, list));
  return contents.flatMap((content) => {
    let calls = 0;
    return spelled(content, "parts")
      .flatMap((list) => objectsIn(body, list))
      .flatMap((part) => {
        const isCall = spelled(part, "functionCall").length > 0;
        if (isCall) calls += 1;
        return spelled(part, "thoughtSignature").flatMap((span): Edit[] => {
          const signature: unknown = JSON.parse(body.toString("utf8", span.start, span.end));
          if (!isOwnSignature(signature)) return [];
          const opaque = readSignature(signature)?.opaque;
          const foreign = isCall && calls === 1 ? NO_SIGNATURE : null;
          const own = isCall && opaque?.origin === origin ? opaque.blob : foreign;
          return [{ ...span, text: JSON.stringify(own) }];
        });
      });
  });
}

/** Where a member lies, under each of its two names. */
function spelled(object: ScannedObject, name: string): Span[] {
  return [...new Set([name, snakeName(name)])].flatMap((each) => memberIn(object, each) ?? []);
}
