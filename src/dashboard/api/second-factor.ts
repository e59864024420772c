// Authenticator apps, recovery codes and passkeys of the person who is signed in. As for signing in, the calls go to
// /auth. Errors are SignInError; where the browser itself refuses, as when no passkey was chosen, it is PasskeyRefused.

import { confirmed } from "./confirm.ts";
import { ask, post } from "./sign-in.ts";

export type FactorState = {
  readonly email: string;
  readonly isRequired: boolean;
  readonly hasApp: boolean;
  readonly hasPassword: boolean;
  readonly recoveryCodesLeft: number;
  readonly passkeys: readonly { readonly id: string; readonly name: string | null; readonly createdAt: string }[];
};

/** The browser returned no passkey: the person cancelled, or there is none for this site. */
export class PasskeyRefused extends Error {}

/** Whether this browser can use passkeys here: none work on an address that is an IP. */
export function canUsePasskeys(): boolean {
  return "PublicKeyCredential" in window && !/^[\d.]+$|^\[/.test(window.location.hostname);
}

export const readFactors = async () => (await ask("/auth/second-factor/state")) as FactorState;

/** Begins to set up an app; it counts once `confirmCode` has accepted a code of it. */
export const setUpApp = async () =>
  (await confirmed(() => post("/auth/second-factor/set-up-app", {}))) as { secret: string; uri: string };

/** Checks a code of an app: as the second step of a sign-in, at the end of a set-up, or as a proof in between. */
export const confirmCode = (code: string) => post("/auth/two-factor/verify-totp", { code });

/** Accepts a recovery code, once, in place of a code of the app. */
export const useRecoveryCode = (code: string) => post("/auth/two-factor/verify-backup-code", { code });

/** Confirms with the password; only for people without a second factor. */
export const confirmPassword = (password: string) => post("/auth/second-factor/verify-password", { password });

/** Makes new recovery codes; the earlier ones stop working. */
export async function makeRecoveryCodes(): Promise<readonly string[]> {
  const answer = await confirmed(() => post("/auth/second-factor/recovery-codes", {}));
  return (answer as { codes: string[] }).codes;
}

export const removeApp = () => confirmed(() => post("/auth/second-factor/remove-app", {}));
export const removePasskey = (id: string) => confirmed(() => post("/auth/second-factor/remove-passkey", { id }));

/** Adds a passkey of this device, or of one nearby. */
export async function addPasskey(name: string): Promise<void> {
  const optionsJSON = await confirmed(() => ask("/auth/passkey/generate-register-options"));
  const { startRegistration } = await import("@simplewebauthn/browser");
  type Options = Parameters<typeof startRegistration>[0]["optionsJSON"];
  const response = await startRegistration({ optionsJSON: optionsJSON as Options }).catch(refuse);
  await post("/auth/passkey/verify-registration", { response, name });
}

/** Signs in with a passkey, or confirms with one. */
export async function usePasskey(): Promise<void> {
  const optionsJSON = await ask("/auth/passkey/generate-authenticate-options");
  const { startAuthentication } = await import("@simplewebauthn/browser");
  type Options = Parameters<typeof startAuthentication>[0]["optionsJSON"];
  const response = await startAuthentication({ optionsJSON: optionsJSON as Options }).catch(refuse);
  await post("/auth/passkey/verify-authentication", { response });
}

function refuse(error: unknown): never {
  throw new PasskeyRefused("", { cause: error });
}
