// The look-up of a password among those of breaches, against a server on this machine.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BreachedPasswords, openBreachedPasswords } from "../../src/identity/passwords/breached-passwords.ts";
import { ValidationError } from "../../src/kernel/errors.ts";
import { lineOf, type RangeServer, startRangeServer } from "./range-server.ts";

const PASSWORD = "kuda benar baterai staples";

let range: RangeServer;
let breached: BreachedPasswords;
let failures: string[];
beforeEach(async () => {
  range = await startRangeServer();
  failures = [];
  breached = openBreachedPasswords({ url: range.url, onFailure: ({ message }) => failures.push(message) });
});
afterEach(async () => {
  await breached.close();
  await range.stop();
});

/** Whether a password is refused. */
const isRefused = (password = PASSWORD): Promise<boolean> =>
  breached.refuse("password", password).then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof ValidationError)) throw error;
      expect(error.details).toMatchObject([{ field: "password", rule: "password.breached" }]);
      return true;
    },
  );

test("a password is refused that the server has seen, and no other", async () => {
  range.knows(PASSWORD, 37);
  expect(await isRefused()).toBe(true);
  expect(await isRefused("tepat empat kata acak")).toBe(false);
  expect(failures).toEqual([]);
});

test("a line of padding counts for nothing", async () => {
  range.knows(PASSWORD, 0);
  expect(await isRefused()).toBe(false);
  expect(failures).toEqual([]);
});

test("five digits of the digest are sent and nothing else of the password, with padding asked for", async () => {
  await isRefused();
  expect(range.asked).toMatchObject([
    { path: `/range/${lineOf(PASSWORD, 1).prefix}`, headers: { "add-padding": "true" } },
  ]);
  expect(JSON.stringify(range.asked)).not.toContain(lineOf(PASSWORD, 1).line.slice(0, 6));
});

test("a password of a length that is refused anyway is not looked up", async () => {
  expect([await isRefused("pendek"), await isRefused("x".repeat(129))]).toEqual([false, false]);
  expect(range.asked).toEqual([]);
});

test("without an address nothing is looked up", async () => {
  const off = openBreachedPasswords({ url: null, onFailure: ({ message }) => failures.push(message) });
  await off.refuse("password", PASSWORD);
  await off.close();
  expect([range.asked, failures]).toEqual([[], []]);
});

describe("a password is accepted, and the failure logged,", () => {
  test("when the server answers with an error", async () => {
    range.answer = (response) => void response.writeHead(500).end(lineOf(PASSWORD, 37).line);
    expect(await isRefused()).toBe(false);
    expect(failures).toEqual(["the answer was 500"]);
  });

  test("when it leads elsewhere", async () => {
    range.answer = (response) => void response.writeHead(302, { location: `${range.url}/elsewhere` }).end();
    expect(await isRefused()).toBe(false);
    expect([failures, range.asked.length]).toEqual([["the answer was 302"], 1]);
  });

  test("when it is not there", async () => {
    const away = openBreachedPasswords({
      url: "http://127.0.0.1:9/range",
      onFailure: ({ message }) => failures.push(message),
    });
    await away.refuse("password", PASSWORD);
    await away.close();
    expect(failures).toEqual(["ECONNREFUSED"]);
  });

  test.each([
    ["does not answer", () => undefined],
    ["does not end its answer", (response: { write: (text: string) => unknown }) => void response.write("00")],
  ])("after two seconds when it %s", async (_how, answer) => {
    range.answer = answer;
    const began = performance.now();
    expect(await isRefused()).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(1_900);
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(failures).toHaveLength(1);
  });

  test("when the answer is larger than a mebibyte", async () => {
    const padding = "0018A45C4D1DEF81644B54AB7F969B88D65:0\r\n".repeat(30_000);
    range.answer = (response) => void response.end(`${padding}${lineOf(PASSWORD, 37).line}`);
    expect(await isRefused()).toBe(false);
    expect(failures).toEqual(["UND_ERR_RES_EXCEEDED_MAX_SIZE"]);
  });

  test("when eight look-ups are running", async () => {
    range.answer = () => undefined;
    const asked = Array.from({ length: 20 }, (_, i) => isRefused(`sandi panjang nomor ${i}`));
    expect(await Promise.all(asked)).toEqual(asked.map(() => false));
    expect(range.asked).toHaveLength(8);
    expect(failures.filter((failure) => failure === "too many at once")).toHaveLength(12);
    // Their places are free again.
    range.knows(PASSWORD, 1);
    expect(await isRefused()).toBe(true);
  });
});
