/** Where to go after signing in: a page of ours, whatever the address says. Read as browsers read it, who leave out tabs. */
export function pageAfter(next: string | undefined, origin: string): string {
  const page = URL.parse(next ?? "/", origin);
  // Whole, because a path that begins with two slashes would be another site by itself.
  return page?.origin === origin ? page.href : `${origin}/`;
}
