// The two worlds of merchants, as they stand in addresses. Apart from how they look: the router reads this on every page.

/** The piece of the address that says which world a page is about. */
export type EnvironmentName = "sandbox" | "production";

/** Both, the harmless one first. */
export const ENVIRONMENTS: readonly EnvironmentName[] = ["sandbox", "production"];

/** Whether a piece of an address names a world. */
export function isEnvironmentName(text: string): text is EnvironmentName {
  return text === "sandbox" || text === "production";
}
