// Requests at /auth leave lines in the security log, with person, network and result, and without secrets.

import { afterAll, beforeAll, expect, test } from "vitest";
import { authRoutes } from "../../src/identity/sign-in/auth-routes.ts";
import { RECORDED_PATHS } from "../../src/identity/sign-in/recorded-sign-in.ts";
import { emailHashOf } from "../../src/identity/security-log.ts";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { servePeople, type ServedPeople } from "./served-people.ts";

const PASSWORD = "kuda benar baterai staples";
const OTHER_PASSWORD = "tepat empat kata acak";
type Line = { kind: string; outcome: string; detail: string; network: string; person_id: string | null };

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

/** The lines of an address, once there are so many: they are written about a second after the event. */
async function linesOf(email: string, personId: string | null, expected: number): Promise<Line[]> {
  const { pool } = served.opened.database;
  const hash = emailHashOf(email, PRODUCTION.SALDO_AUTH_SECRET);
  let lines: Line[] = [];
  await expect
    .poll(
      async () => {
        const text = "SELECT * FROM auth.security_event WHERE email_hash = $1 OR person_id = $2::uuid ORDER BY id";
        lines = (await pool.query<Line>(text, [hash, personId])).rows;
        return lines.length;
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThanOrEqual(expected);
  return lines;
}

test("signing up, in and out, wrong passwords, changes and resets are written down", async () => {
  const email = served.newEmail();
  const browser = served.newBrowser();
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  const { person } = await browser.rpc<{ person: { id: string } }>("accounts.v1.AccountsService/GetMe");
  expect((await served.newBrowser().auth("/sign-in/email", { email, password: OTHER_PASSWORD })).status).toBe(401);
  const elsewhere = served.newBrowser();
  await elsewhere.auth("/sign-in/email", { email, password: PASSWORD });
  await browser.auth("/change-password", { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD });
  await browser.auth("/sign-out", {});
  await browser.auth("/request-password-reset", { email, redirectTo: "/reset-password" });
  const link = await served.mails.linkTo(email, /reset-password/);
  const answer = await browser.open(link);
  const token = new URL(answer.headers.get("location") ?? "", link).searchParams.get("token");
  await browser.auth("/reset-password", { newPassword: PASSWORD, token });

  const lines = await linesOf(email, person.id, 7);
  const seen = lines.map(({ kind, outcome, detail }) => `${kind} ${outcome} ${detail}`);
  expect(seen.toSorted()).toEqual(
    [
      "sign_up succeeded password",
      "sign_in refused password invalid_credentials",
      "sign_in succeeded password",
      "password_change succeeded password",
      "session_end succeeded sign_out",
      "password_reset succeeded mail_requested",
      "password_reset succeeded password_set",
    ].toSorted(),
  );
  expect(lines.filter(({ network }) => network === "127.0.0.1")).toHaveLength(lines.length);
  const signedIn = lines.find(({ kind, outcome }) => kind === "sign_in" && outcome === "succeeded");
  expect(signedIn?.person_id).toBe(person.id);
  const text = JSON.stringify(lines);
  for (const secret of [PASSWORD, OTHER_PASSWORD, email, String(token)]) expect(text).not.toContain(secret);
});

// Reads, and links to a page that sends one of the others.
const UNRECORDED = [
  "/get-session",
  "/reset-password/:token",
  "/passkey/generate-authenticate-options",
  "/passkey/generate-register-options",
  "/second-factor/state",
];

test("every path of sign-in is written down or named here", () => {
  const paths = new Set(authRoutes.map(({ path }) => path));
  expect([...paths].filter((path) => RECORDED_PATHS[path] === undefined).toSorted()).toEqual(UNRECORDED.toSorted());
  expect(Object.keys(RECORDED_PATHS).filter((path) => !paths.has(path))).toEqual([]);
});

test("each line of the security log is in the process log as well, once, with its id and without an address", async () => {
  await served.newBrowser().auth("/sign-in/email", { email: "nobody@test.example", password: PASSWORD });
  const { pool } = served.opened.database;
  const inTable = async () =>
    (await pool.query<{ id: string; kind: string }>("SELECT id, kind FROM auth.security_event ORDER BY id")).rows;
  const inLog = () =>
    served.saldo.log.flatMap(({ event, id }) =>
      typeof event === "string" && event.startsWith("security.") ? [{ id, kind: event.slice("security.".length) }] : [],
    );
  await expect.poll(async () => (await inTable()).length, { timeout: 10_000 }).toBeGreaterThan(0);
  await expect.poll(async () => inLog().length >= (await inTable()).length, { timeout: 10_000 }).toBe(true);
  const [logged, kept] = [inLog(), await inTable()];
  expect(logged).toEqual(expect.arrayContaining(kept));
  expect(new Set(logged.map(({ id }) => id)).size).toBe(logged.length);
  expect(JSON.stringify(served.saldo.log)).not.toContain("test.example");
});
