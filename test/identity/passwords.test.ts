// A password of its owner's choice: long, of any characters, valid for as long as its owner wants; and the mail about a change.

import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedPeople, servePeople } from "./served-people.ts";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

async function signedUp(password: string) {
  const [email, browser] = [served.newEmail(), served.newBrowser()];
  expect((await browser.auth("/sign-up/email", { email, password })).status).toBe(200);
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  return { email, browser };
}

const signIn = async (email: string, password: string): Promise<number> =>
  (await served.newBrowser().auth("/sign-in/email", { email, password })).status;

test("is taken as it is written: long, with spaces at its ends, in any script", async () => {
  const password = ` Ängstliche 鯨 und ${"stille Wege ".repeat(9)} `.padEnd(128, "~");
  expect(password).toHaveLength(128);
  const { email } = await signedUp(password);
  const others = [password.trim(), password.toLowerCase(), password.slice(0, 127), password.slice(0, 72)];
  expect(await Promise.all(others.map((other) => signIn(email, other)))).toEqual([401, 401, 401, 401]);
  expect(await signIn(email, password)).toBe(200);
});

test("does not grow old", async () => {
  const { email } = await signedUp("kuda benar baterai staples");
  const { rowCount } = await served.opened.database.pool.query(
    `UPDATE auth.credential c SET created_at = now() - interval '10 years', updated_at = now() - interval '10 years'
     FROM auth.person p WHERE p.id = c.user_id AND p.email = $1`,
    [email],
  );
  expect(rowCount).toBe(1);
  expect(await signIn(email, "kuda benar baterai staples")).toBe(200);
});

test("is not changed without the former one, and its owner gets a mail when it is", async () => {
  const { email, browser } = await signedUp("kuda benar baterai staples");
  const newPassword = "tepat empat kata acak";
  const change = (currentPassword: string) => browser.auth("/change-password", { currentPassword, newPassword });
  expect((await change("bukan kata sandi saya")).status).toBe(400);
  expect((await browser.auth("/change-password", { newPassword })).status).toBe(400);
  expect((await change("kuda benar baterai staples")).status).toBe(200);
  expect(await served.mails.to(email, /password was changed/)).toContain(served.saldo.httpUrl);
});
