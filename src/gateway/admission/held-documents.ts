// The tokens that are held for documents. Providers read a page as its text and as a picture, and charge for both. A page may have any
// text, packed in few bytes, so a hold with a document is the context window: no input is longer.

import type { DocumentPart, Conversation, Part } from "../conversation/conversation.ts";

/** More than any model reads. */
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
  /** The most tokens that they are charged as; 0: there is none. */
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

/** The tokens of documents. Those that are billed without a count of an upstream's are by their pages. */
export function heldDocuments(documents: readonly DocumentPart[]): HeldDocuments {
  let { tokens, likelyTokens, characters } = NO_DOCUMENTS;
  for (const { mediaType, data } of documents) {
    characters += data.length;
    const isRead = mediaType === PDF && characters <= MOST_READ_CHARACTERS;
    const pages = isRead ? pagesOf(Buffer.from(data, "base64")) : null;
    tokens = MOST_OF_A_DOCUMENT;
    likelyTokens += (pages ?? Math.ceil(data.length / CHARACTERS_OF_A_PAGE)) * LIKELY_TOKENS_OF_A_PAGE;
  }
  return { tokens, likelyTokens, characters };
}

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;

/** The pages of a PDF that are seen without reading it as its readers do. Null: none is, as where its objects are packed. */
export function pagesOf(file: Buffer): number | null {
  const text = file.toString("latin1");
  return (text.startsWith("%PDF-") && text.match(PAGE)?.length) || null;
}
