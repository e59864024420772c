// What strangers see of the welcome page before the program has arrived: its title and first sentences, in both languages, as
// markup that the build writes. The styles show the part in the document's language. The program renders the same in its place.

import { WELCOME_MESSAGES } from "./welcome-messages.ts";

/** The classes of the parts, for the markup and for the page. */
export const PARTS = {
  frame: "flex min-h-dvh flex-col",
  header: "flex h-14 items-center border-b border-line bg-card px-4",
  page: "mx-auto flex w-full max-w-6xl flex-col gap-10 p-4 pt-8 sm:p-6 sm:pt-14",
  top: "max-lg:contents lg:grid lg:grid-cols-2 lg:items-start lg:gap-8",
  hero: "flex min-w-0 flex-col gap-4",
  title: "text-3xl font-semibold tracking-tight text-balance sm:text-4xl",
  about: "text-base text-muted sm:text-lg",
} as const;

/** The markup. */
export function firstPaint(): string {
  const heroes = (["id", "en"] as const).map((language) => {
    const { title, about } = WELCOME_MESSAGES[language];
    return `<div data-first-paint="${language}" lang="${language}" class="${PARTS.hero}"><h1 class="${PARTS.title}">${escape(title)}</h1><p class="${PARTS.about}">${escape(about)}</p></div>`;
  });
  return `<div class="${PARTS.frame}"><div class="${PARTS.header}"></div><main><div class="${PARTS.page}"><div class="${PARTS.top}">${heroes.join("")}</div></div></main></div>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
