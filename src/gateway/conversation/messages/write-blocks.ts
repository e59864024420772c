// Writes the parts of a turn as blocks.

import type { JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { CallPart, DocumentPart, ImagePart, Part, ReasoningPart, ResultPart, TextPart } from "../conversation.ts";
import { flatName } from "../conversation.ts";
import { writtenMark } from "./mark-for-cache.ts";
import { refuseForModel } from "./refuse-for-model.ts";

/** A block as it is written. A mark for the cache may be added or taken away. */
export type WrittenBlock = { readonly type: string; cache_control?: object } & JsonObject;

export type BlockFacts = { readonly origin: string; readonly takesDocuments: boolean };

/** Before the data of a thought that its provider does not show: the blob of any other is a signature, which has no colon. */
export const REDACTED = "redacted:";
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const PDF = "application/pdf";

/** Whether a text has nothing in it that a model reads; a block with such a text is refused. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

export function textBlock({ text, cacheMark }: TextPart): WrittenBlock {
  return { type: "text", text, ...(cacheMark === undefined ? {} : { cache_control: writtenMark(cacheMark) }) };
}

export class BlockWriter {
  readonly #freeform: ReadonlySet<string>;
  readonly #facts: BlockFacts;

  /** `freeform`: the names of tools whose input is any text. */
  constructor(freeform: ReadonlySet<string>, facts: BlockFacts) {
    this.#freeform = freeform;
    this.#facts = facts;
  }

  /** A text, a picture or a document. Errors: ValidationError. */
  plain(part: Part): WrittenBlock[] {
    switch (part.kind) {
      case "text":
        return isBlank(part.text) ? [] : [textBlock(part)];
      case "image":
        return [imageBlock(part)];
      case "document":
        return [this.#document(part)];
      case "audio":
      case "call":
      case "result":
      case "reasoning":
        break;
    }
    throw refuseForModel("messages", "modality", `must hold no ${part.kind} there: this model takes none`);
  }

  /** A thought of this upstream. Others are left out: only their maker can read them. */
  thought({ text, opaque }: ReasoningPart): WrittenBlock[] {
    if (opaque === null || opaque.origin !== this.#facts.origin) return [];
    const { blob } = opaque;
    if (blob.startsWith(REDACTED)) return [{ type: "redacted_thinking", data: blob.slice(REDACTED.length) }];
    return [{ type: "thinking", thinking: text, signature: blob }];
  }

  call({ tool, input }: CallPart, id: string): WrittenBlock {
    const name = flatName(tool);
    return { type: "tool_use", id, name, input: this.#inputOf(name, input) };
  }

  result({ parts, isError }: ResultPart, id: string): WrittenBlock {
    const content = parts.flatMap((part) => this.plain(part));
    const marked = parts.findLast((part) => part.kind === "text" && part.cacheMark !== undefined);
    // A mark within a result is not possible everywhere; one on the result is.
    const mark =
      marked?.kind === "text" && marked.cacheMark !== undefined ? { cache_control: writtenMark(marked.cacheMark) } : {};
    return {
      type: "tool_result",
      tool_use_id: id,
      ...(content.length === 0 ? {} : { content: content.map(({ cache_control: _mark, ...block }) => block) }),
      ...(isError ? { is_error: true } : {}),
      ...mark,
    };
  }

  /** An input is an object here. A text that is none may be a freeform tool's, or what a model wrote wrongly. */
  #inputOf(name: string, input: string): object {
    if (this.#freeform.has(name)) return { input };
    return isBlank(input) ? {} : (parseObject(input) ?? { input });
  }

  #document({ mediaType, data, name, where }: DocumentPart): WrittenBlock {
    if (!this.#facts.takesDocuments || mediaType !== PDF) {
      throw refuseForModel(where, "modality", "must be no document: this model takes none of its type");
    }
    const source = { type: "base64", media_type: mediaType, data };
    return { type: "document", source, ...(name === null ? {} : { title: name }) };
  }
}

function imageBlock({ source }: ImagePart): WrittenBlock {
  if (source.kind === "url") return { type: "image", source: { type: "url", url: source.url } };
  if (!IMAGE_TYPES.has(source.mediaType)) {
    throw refuseForModel(
      "messages",
      "media_type",
      `must hold pictures of the types ${[...IMAGE_TYPES].join(", ")} alone`,
    );
  }
  return { type: "image", source: { type: "base64", media_type: source.mediaType, data: source.data } };
}
