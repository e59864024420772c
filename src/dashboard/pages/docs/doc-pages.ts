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
  "alerts",
  "transfers",
] as const;
export type DocPageName = (typeof DOC_PAGES)[number];
