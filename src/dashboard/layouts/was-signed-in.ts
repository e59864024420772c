// Whether this browser had a session before: no proof, only a reason to ask the server.

import { keep } from "../i18n/language.tsx";

const KEPT_AS = "saldo.was-signed-in";

/** Stores it for pages that are opened later. */
export function rememberSignedIn(isSignedIn: boolean): void {
  keep(KEPT_AS, isSignedIn ? "yes" : "no");
}

/** The stored value. */
export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) === "yes";
  } catch {
    return false; // Private windows may refuse: the form is shown, and signing in once more does no harm.
  }
}
