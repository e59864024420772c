// Access tokens of Google Cloud: for a service account by its key, or of the machine by its metadata server.

import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { callService, textOf } from "./bounded-fetch.ts";

/** What of a service account's JSON key is used. */
type ServiceAccount = {
  readonly email: string;
  readonly keyId: string;
  readonly key: KeyObject;
  readonly tokenUrl: string;
};

/** Returns an access token. */
export type TokenSource = (signal: AbortSignal) => Promise<string>;

const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const LIVES_SECONDS = 3_600;
/** A token is renewed so long before its end. */
const RENEWED_BEFORE_MS = 120_000;

/** A token that is asked for when the last one ends. */
export function cachedToken(
  ask: (signal: AbortSignal) => Promise<{ readonly token: string; readonly seconds: number }>,
  now: () => number = () => performance.now(),
): TokenSource {
  let cached: { readonly token: string; readonly untilMs: number } | null = null;
  return async (signal) => {
    if (cached !== null && now() < cached.untilMs) return cached.token;
    const askedAtMs = now();
    const { token, seconds } = await ask(signal);
    cached = { token, untilMs: askedAtMs + seconds * 1_000 - RENEWED_BEFORE_MS };
    return token;
  };
}

/** The tokens of a service account. Errors: what is no JSON key of one; it is not quoted. */
export function serviceAccountToken(json: string, now: () => Date = () => new Date()): TokenSource {
  const { email, keyId, key, tokenUrl } = readServiceAccount(json);
  return cachedToken(async (signal) => {
    const seconds = Math.floor(now().getTime() / 1_000);
    const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: seconds, exp: seconds + LIVES_SECONDS };
    const head = [{ alg: "RS256", typ: "JWT", kid: keyId }, claims].map(encoded).join(".");
    const assertion = `${head}.${createSign("sha256").update(head).sign(key, "base64url")}`;
    const body = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return tokenOf(
      await callService("Google's token service", tokenUrl, { method: "POST", headers, body: body.toString(), signal }),
    );
  });
}

/** The tokens of the machine's own service account. */
export function metadataToken(metadataUrl: string): TokenSource {
  const url = `${metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`;
  return cachedToken(async (signal) =>
    tokenOf(
      await callService("Google's metadata server", url, {
        method: "GET",
        headers: { "metadata-flavor": "Google" },
        signal,
      }),
    ),
  );
}

function tokenOf(answer: Readonly<Record<string, unknown>>): { token: string; seconds: number } {
  const seconds = answer["expires_in"];
  return { token: textOf(answer, "access_token"), seconds: typeof seconds === "number" ? seconds : 0 };
}

/** Errors: what is no JSON key. */
export function readServiceAccount(json: string): ServiceAccount {
  try {
    const account = JSON.parse(json) as Readonly<Record<string, unknown>>;
    const tokenUrl = textOf(account, "token_uri");
    const { protocol, hostname } = new URL(tokenUrl);
    if (protocol !== "https:" && hostname !== "127.0.0.1") throw new Error("its token_uri is not https");
    return {
      email: textOf(account, "client_email"),
      keyId: textOf(account, "private_key_id"),
      key: createPrivateKey(textOf(account, "private_key")),
      tokenUrl,
    };
  } catch {
    // What went wrong may quote the key.
    throw new Error("this is no JSON key of a service account of Google Cloud");
  }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
