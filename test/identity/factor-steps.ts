// A person's steps to set up, show and use a second factor.

import { expect } from "vitest";
import { inviteOperator } from "../../src/identity/operator-invites.ts";
import { codeOfNow, PasskeyDevice } from "./authenticators.ts";
import type { Browser } from "./browser.ts";
import type { ServedPeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";

/** The steps, at a service that is running once they are taken. */
export function factorSteps(at: () => ServedPeople) {
  /** An operator who has opened the set-up link, and nothing more. */
  async function newOperator(): Promise<{ browser: Browser; email: string }> {
    const link = await inviteOperator(at().opened.database.pool, at().saldo.httpUrl);
    const token = new URL(link).searchParams.get("token");
    const [browser, email] = [at().newBrowser(), at().newEmail()];
    expect((await browser.auth("/operator/set-up", { token, email, password: PASSWORD })).status).toBe(200);
    return { browser, email };
  }

  const nextCode = (secret: string): Promise<string> => codeOfNow(at().opened.database.pool, secret);

  async function setUpApp(browser: Browser): Promise<string> {
    const { json, status } = await browser.auth("/second-factor/set-up-app", {});
    expect(status).toBe(200);
    const secret = String(json["secret"]);
    expect(String(json["uri"])).toContain(`secret=${secret}&issuer=Saldo`);
    const confirmed = await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) });
    expect([confirmed.status, confirmed.json["token"]]).toEqual([200, undefined]);
    return secret;
  }

  /** Sets the last proof of a person's sessions so far back. */
  async function proveLongAgo(email: string, interval: string): Promise<void> {
    const { rowCount } = await at().opened.database.pool.query(
      `UPDATE auth.session s SET proved_at = now() - $2::interval FROM auth.person p WHERE p.id = s.user_id AND p.email = $1`,
      [email, interval],
    );
    expect(rowCount).toBeGreaterThan(0);
  }

  async function errorOf(browser: Browser, method: string, request: unknown = { name: "a service" }): Promise<string> {
    const { status, json } = await browser.rpcStatus(method, request);
    if (status === 200) return "done";
    const [fact] = (json["details"] ?? []) as { debug?: { code?: string } }[];
    return fact?.debug?.code ?? String(json["code"]);
  }

  const device = (browserBase: string, options?: { asks: boolean }) =>
    new PasskeyDevice({ rpId: "localhost", origin: browserBase }, options);

  async function addPasskey(browser: Browser, passkeys: PasskeyDevice): Promise<number> {
    const options = await browser.get("/auth/passkey/generate-register-options");
    if (options.status !== 200) return options.status;
    const response = passkeys.register(options.json as { challenge: string });
    return (await browser.auth("/passkey/verify-registration", { response, name: "A phone" })).status;
  }

  async function usePasskey(browser: Browser, passkeys: PasskeyDevice) {
    const options = await browser.get("/auth/passkey/generate-authenticate-options");
    const response = passkeys.authenticate(options.json as { challenge: string });
    return browser.auth("/passkey/verify-authentication", { response });
  }

  return { newOperator, nextCode, setUpApp, proveLongAgo, errorOf, device, addPasskey, usePasskey };
}
