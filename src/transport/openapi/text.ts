// The texts of the document: comments of the contracts as Markdown.

import type { AnyDesc, DescFile } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** A comment: its first sentence, the rest, and both. */
export type Text = { readonly summary: string; readonly rest: string; readonly whole: string };

/** Reads the comment before a declaration. Lines of one paragraph are joined. */
export function textOf(desc: Exclude<AnyDesc, DescFile>): Text {
  const whole = (getComments(desc).leading ?? "")
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .split("\n")
        .map((line) => line.trim())
        .join(" ")
        .trim(),
    )
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
  const end = /[.:](?=\s|$)/.exec(whole);
  const cut = end === null ? whole.length : end.index;
  return { summary: whole.slice(0, cut), rest: whole.slice(cut + 1).trim(), whole };
}
