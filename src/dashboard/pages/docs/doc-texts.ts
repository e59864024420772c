// The texts of the documentation, parsed by the build.

import type { Language } from "../../i18n/language.tsx";
import type { Block } from "./markdown.ts";

/** The pages, in reading order. */
export const DOC_PAGES = [
  "quick-start",
  "authentication",
  "clients",
  "streaming",
  "tools",
  "errors",
  "limits",
  "caching",
  "billing",
  "transfers",
] as const;
export type DocPageName = (typeof DOC_PAGES)[number];

/** A page: its title and its blocks. */
export type DocText = { readonly title: string; readonly blocks: readonly Block[] };

const files = import.meta.glob<readonly Block[]>("../../../docs/pages/*.md", { eager: true, import: "default" });

/** The text of a page in a language. */
export function docText(page: DocPageName, language: Language): DocText {
  const [heading, ...blocks] = files[`../../../docs/pages/${page}.${language}.md`] ?? [];
  return { title: heading?.kind === "heading" ? heading.text : page, blocks };
}

/** The page of a name in an address. Null: there is none. */
export function docPageOf(name: string): DocPageName | null {
  return DOC_PAGES.find((page) => page === name) ?? null;
}
