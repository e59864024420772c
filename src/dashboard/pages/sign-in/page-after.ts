/** Pages for who is not signed in yet: nobody is sent back to one of these. */
const BEFORE_SIGNING_IN: ReadonlySet<string> = new Set(["/sign-in", "/sign-up", "/forgot-password", "/reset-password"]);

/** An address such as `blob:https://ours/…` has our origin too, and is a document that anybody may have made. */
const OF_PAGES: ReadonlySet<string> = new Set(["https:", "http:"]);

/** Where to go after signing in: a page of ours, whatever the address says. Read as browsers read it, who leave out tabs. */
export function pageAfter(next: string | undefined, origin: string): string {
  const page = URL.parse(next ?? "/", origin);
  if (page?.origin !== origin || !OF_PAGES.has(page.protocol) || BEFORE_SIGNING_IN.has(page.pathname))
    return `${origin}/`;
  // Whole, because a path that begins with two slashes would be another site by itself.
  return page.href;
}
