// The tokens that are held for documents. Providers read a page as its text and as a picture, and charge for both.

import type { DocumentPart, Conversation, Part } from "../conversation/conversation.ts";

/** The most tokens of a page: 3 000 of text by Anthropic's guide, and a picture. */
const TOKENS_OF_A_PAGE = 8_192;
/** More than any model reads: a hold ends at the context window. */
const MOST_OF_A_DOCUMENT = 16_777_216;
/** About the tokens of a page with its picture, which are billed where no upstream counts them. */
const LIKELY_TOKENS_OF_A_PAGE = 2_300;
/** About the base64 characters of a page, where pages cannot be counted. */
const CHARACTERS_OF_A_PAGE = 100_000;
const PDF = "application/pdf";
/** Of all documents of a request: reading more would keep other requests waiting. */
const MOST_READ_CHARACTERS = 4 * 1_024 * 1_024;

/** What the documents of a conversation come to. */
export type HeldDocuments = {
  /** The most tokens that they are charged as. */
  readonly tokens: number;
  /** What is billed where no upstream counts them. */
  readonly likelyTokens: number;
  /** Characters of the client's body that are their data. */
  readonly characters: number;
};

export const NO_DOCUMENTS: HeldDocuments = { tokens: 0, likelyTokens: 0, characters: 0 };

/** The documents of a conversation, those within results of tools too. */
export function documentsOf({ turns }: Pick<Conversation, "turns">): readonly DocumentPart[] {
  return turns.flatMap(({ parts }) => parts).flatMap(documentsIn);
}

function documentsIn(part: Part): readonly DocumentPart[] {
  if (part.kind === "document") return [part];
  return part.kind === "result" ? part.parts.filter((each) => each.kind === "document") : [];
}

/** The tokens of documents by their pages. */
export function heldDocuments(documents: readonly DocumentPart[]): HeldDocuments {
  let { tokens, likelyTokens, characters } = NO_DOCUMENTS;
  for (const { mediaType, data } of documents) {
    characters += data.length;
    const isRead = mediaType === PDF && characters <= MOST_READ_CHARACTERS;
    const pages = isRead ? pagesOf(Buffer.from(data, "base64")) : null;
    tokens += pages === null ? MOST_OF_A_DOCUMENT : pages * TOKENS_OF_A_PAGE;
    likelyTokens += (pages ?? Math.ceil(data.length / CHARACTERS_OF_A_PAGE)) * LIKELY_TOKENS_OF_A_PAGE;
  }
  return { tokens, likelyTokens, characters };
}

/** Objects in packed streams, encrypted files, and names that are written with escapes may hide pages. */
const HIDING = /\/ObjStm|\/XRef|\/Encrypt/;
const ESCAPED_NAME = /\/[A-Za-z]*#/;
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
const COUNT = /\/Count\s+(\d{1,9})/g;

/** The pages of a PDF; null: they cannot be counted without reading it as its readers do. */
export function pagesOf(file: Buffer): number | null {
  const text = file.toString("latin1");
  if (!text.startsWith("%PDF-") || HIDING.test(text) || ESCAPED_NAME.test(outsideOfStreams(text))) return null;
  const objects = text.match(PAGE)?.length ?? 0;
  let counted = 0;
  for (const [, count] of text.matchAll(COUNT)) counted = Math.max(counted, Number(count));
  // A page that is in the tree twice is one object, and a page without a type is only counted.
  const pages = Math.max(objects, counted);
  return pages === 0 ? null : pages;
}

/** The text without what is packed in its streams. An end is searched for once, so a text full of beginnings is read once. */
function outsideOfStreams(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf("stream", from);
    const end = start < 0 ? -1 : text.indexOf("endstream", start + "stream".length);
    if (end < 0) return parts.join("") + text.slice(from);
    parts.push(text.slice(from, start));
    from = end + "endstream".length;
  }
}
