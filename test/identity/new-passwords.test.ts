// A new password that is common or was breached is refused wherever a person chooses one.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RangeServer, startRangeServer } from "./range-server.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "kuda benar baterai staples";
const BREACHED = "gajah ungu menari tango";
const KNOWN_NOWHERE = "tepat empat kata acak";

let range: RangeServer;
let served: ServedPeople;
beforeAll(async () => {
  range = await startRangeServer();
  served = await servePeople({ SALDO_BREACHED_PASSWORDS_URL: `${range.url}/` });
});
afterAll(async () => {
  await served.stop();
  await range.stop();
});
beforeEach(() => range.knows(BREACHED, 4));

type Outcome = { readonly status: number; readonly rule: unknown };
const outcomeOf = ({ status, json }: { status: number; json: Record<string, unknown> }): Outcome => {
  const [first] = (json["details"] ?? []) as { rule: string }[];
  return { status, rule: first?.rule };
};

const signUp = async (password: string): Promise<Outcome> =>
  outcomeOf(await served.newBrowser().auth("/sign-up/email", { email: served.newEmail(), password }));

async function signedUp() {
  const [email, browser] = [served.newEmail(), served.newBrowser()];
  expect((await browser.auth("/sign-up/email", { email, password: PASSWORD })).status).toBe(200);
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  return { email, browser };
}

/** The results of passwords in a change of the own password. */
async function change(passwords: readonly string[]): Promise<Outcome[]> {
  const { browser } = await signedUp();
  const outcomes: Outcome[] = [];
  for (const newPassword of passwords)
    outcomes.push(outcomeOf(await browser.auth("/change-password", { currentPassword: PASSWORD, newPassword })));
  return outcomes;
}

/** The same by the link of a mail. */
async function reset(passwords: readonly string[]): Promise<Outcome[]> {
  const { email } = await signedUp();
  await served.newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset" });
  const token = /reset-password\/([^?]+)/.exec(await served.mails.linkTo(email, /reset-password/))?.[1];
  const outcomes: Outcome[] = [];
  for (const newPassword of passwords)
    outcomes.push(outcomeOf(await served.newBrowser().auth("/reset-password", { token, newPassword })));
  return outcomes;
}

const COMMON: Outcome = { status: 400, rule: "password.common" };
const LEAKED: Outcome = { status: 400, rule: "password.breached" };
const TAKEN: Outcome = { status: 200, rule: undefined };

test("of the published list is refused at sign-up, at a change and at a reset", async () => {
  // The rules do not know them.
  const listed = ["sonyericsson", "FinalFantasy", "4815162342lost"];
  const before = range.asked.length;
  expect(await Promise.all(listed.map(signUp))).toEqual(listed.map(() => COMMON));
  expect(range.asked.length).toBe(before);
  expect(await change([...listed, KNOWN_NOWHERE])).toEqual([...listed.map(() => COMMON), TAKEN]);
  expect(await reset([...listed, KNOWN_NOWHERE])).toEqual([...listed.map(() => COMMON), TAKEN]);
});

test("of a breach is refused at sign-up, at a change and at a reset", async () => {
  expect([await signUp(BREACHED), await signUp(KNOWN_NOWHERE)]).toEqual([LEAKED, TAKEN]);
  expect(await change([BREACHED, KNOWN_NOWHERE])).toEqual([LEAKED, TAKEN]);
  expect(await reset([BREACHED, KNOWN_NOWHERE])).toEqual([LEAKED, TAKEN]);
});

test("of a breach makes no operator", async () => {
  const link = await readFile(join(served.settings["SALDO_DATA_DIR"] ?? "", "operator-link"), "utf8");
  const [, token = ""] = /token=(\S+)/.exec(link) ?? [];
  const email = served.newEmail();
  const setUp = async (password: string) =>
    outcomeOf(await served.newBrowser().auth("/operator/set-up", { token, email, password }));
  expect(await setUp("sonyericsson")).toEqual(COMMON);
  expect(await setUp(BREACHED)).toEqual(LEAKED);
  expect((await setUp(KNOWN_NOWHERE)).status).toBe(200);
});

test("is taken with a warning while the server of breaches is away", async () => {
  range.answer = (response) => void response.writeHead(503).end();
  expect(await signUp(BREACHED)).toEqual(TAKEN);
  const warned = served.saldo.log.filter(({ event }) => event === "identity.password.unchecked");
  expect(warned).toMatchObject([{ level: expect.anything(), err: { message: "the answer was 503" } }]);
  expect(JSON.stringify(warned)).not.toContain(BREACHED);
});
