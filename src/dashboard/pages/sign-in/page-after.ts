/** Pages for people without a session: signing in never leads back to one of these. */
const BEFORE_SIGNING_IN: ReadonlySet<string> = new Set(["/sign-in", "/sign-up", "/forgot-password", "/reset-password"]);

/** An address such as `blob:https://ours/…` has our origin too, and is a document that any site may have made. */
const OF_PAGES: ReadonlySet<string> = new Set(["https:", "http:"]);

/**
 * The page after signing in: one of ours, whatever the address contains. It is parsed as browsers do, which drop tabs.
 */
export function pageAfter(next: string | undefined, origin: string): string {
  const page = URL.parse(next ?? "/", origin);
  if (page?.origin !== origin || !OF_PAGES.has(page.protocol) || BEFORE_SIGNING_IN.has(page.pathname))
    return `${origin}/`;
  // Absolute, because a path that begins with two slashes would be another site.
  return page.href;
}

/** The same page as a path of ours, as the link of a mail names it. */
export function pathAfter(next: string | undefined, origin: string): string {
  const path = pageAfter(next, origin).slice(origin.length);
  // Two slashes would be another site; an encoded slash in a path is refused by the service.
  return path.startsWith("//") || /^[^?#]*%(?:2f|5c)/i.test(path) ? "/" : path;
}

/** Whether the page after signing in is that of an invitation. */
export function isForInvite(next: string | undefined, origin: string): boolean {
  return new URL(pageAfter(next, origin)).pathname === "/invite";
}
