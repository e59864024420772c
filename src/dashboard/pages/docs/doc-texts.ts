// The texts of the documentation, parsed by the build.

import type { Language } from "../../i18n/language.tsx";
import { DOC_PAGES, type DocPageName } from "./doc-pages.ts";
import type { Block } from "./markdown.ts";

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
