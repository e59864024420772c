// Where a link of an answer may lead.

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address of a link that a model wrote. Null: it is none that a page may open, such as a script or a path of this site. */
export function linkOf(href: string): string | null {
  try {
    // Without a base: an address that is not whole would lead into the dashboard.
    const url = new URL(href);
    return SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
