// Whether somebody was signed in here, as far as this browser remembers: no proof, only a reason to ask the server.

import { keep } from "../i18n/language.tsx";

const KEPT_AS = "saldo.was-signed-in";

/** Remembers it for pages that are opened later. */
export function rememberSignedIn(isSignedIn: boolean): void {
  keep(KEPT_AS, isSignedIn ? "yes" : "no");
}

/** What is remembered. */
export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) === "yes";
  } catch {
    return false; // Private windows may refuse: the form is shown, and signing in once more does no harm.
  }
}
