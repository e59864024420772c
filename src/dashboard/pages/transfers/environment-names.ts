// The two environments of merchants in addresses. Apart from their looks: the router loads this on every page.

/** The segment of the address that names a page's environment. */
export type EnvironmentName = "sandbox" | "production";

/** Both, the sandbox first. */
export const ENVIRONMENTS: readonly EnvironmentName[] = ["sandbox", "production"];

/** Whether a segment of an address names an environment. */
export function isEnvironmentName(text: string): text is EnvironmentName {
  return text === "sandbox" || text === "production";
}
