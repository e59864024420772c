// Bodies that are meant to keep the process busy: each is refused by its form, soon, and other callers are answered meanwhile.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { type RawAnswer, refusalOf, refused, sendRaw } from "./raw-http.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const MIB = 1024 * 1024;
/** Each took from 2 s to more than a minute before its scan was linear. The rest of this is for a busy machine. */
const SOON_MS = 1_500;

let served: ServedSaldo;
let customer: Customer;
let pair: string;

beforeAll(async () => {
  served = await serveSaldo({ inOwnProcess: true, models: { cheap: { price: { input: "1", output: "1" } } } });
  customer = await served.customer({ rateLimit: 0 });
  ({ authorization: pair } = await served.merchant({ environment: "sandbox", coins: {} }));
});
afterAll(() => served.stop());

async function sendJson(path: string, body: string | Buffer, headers: Record<string, string>): Promise<RawAnswer> {
  return sendRaw(served.server.httpUrl, {
    path,
    headers: { "content-type": "application/json", ...headers },
    body: [body],
  });
}

const sendChat = (body: string | Buffer, { key } = customer) =>
  sendJson("/v1/chat/completions", body, { authorization: `Bearer ${key}` });

/** A string without an end, in which every quote is escaped. */
const openString = (bytes: number) => `"${String.raw`\"`.repeat((bytes - 1) / 2)}`;

/** A chat request with so many bytes of empty arrays. */
const wideChat = (bytes: number) =>
  `{"model":"local/cheap","messages":[{"role":"user","content":"x"}],"metadata":{"a":[${"[],".repeat(bytes / 3)}null]}}`;

/** The longest wait of a caller that asks again and again while the work runs. */
async function longestWaitDuring(work: () => Promise<unknown>): Promise<number> {
  let isRunning = true;
  const ended = work().finally(() => (isRunning = false));
  let longest = 0;
  while (isRunning) {
    const sentAt = performance.now();
    await (await fetch(`${served.server.httpUrl}/healthz`)).text();
    longest = Math.max(longest, performance.now() - sentAt);
  }
  await ended;
  return longest;
}

describe("a body is refused soon:", () => {
  test("a string without an end, of a caller without an account", async () => {
    const origin = served.server.httpUrl;
    const wait = await longestWaitDuring(async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => sendJson("/auth/sign-out", openString(16_000), { origin })),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    });
    expect(wait).toBeLessThan(SOON_MS);
  });

  test("a string without an end, of a merchant", async () => {
    const path = "/sandbox/v1/merchant-transfers/calculate";
    const wait = await longestWaitDuring(async () => {
      const answer = await sendJson(path, openString(60_000), { authorization: pair });
      expect(refusalOf(answer)).toEqual(refused(400, "validation_error", { inEnvelope: true }));
    });
    expect(wait).toBeLessThan(SOON_MS);
  });

  test("one of ten million arrays, by the rule that the documentation names", async () => {
    const body = wideChat(31 * MIB);
    const wait = await longestWaitDuring(async () => {
      const { status, body: text } = await sendChat(body);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ error: "validation_error", details: [{ rule: "too_complex" }] });
    });
    expect(wait).toBeLessThan(SOON_MS);
  });

  test("one whose upstream repeats what was sent", async () => {
    const wait = await longestWaitDuring(async () => {
      for (const part of ["*", "a.", "a-", "1.1.1."]) {
        const user = part.repeat(60_000 / part.length);
        served.upstream.run(json(JSON.stringify({ error: { message: `Invalid value for user: ${user}` } }), 400));
        const { status, body } = await sendChat(
          JSON.stringify({ model: "local/cheap", user, messages: [{ role: "user", content: "x" }] }),
        );
        expect(status).toBe(400);
        expect((JSON.parse(body) as { message: string }).message.length).toBeLessThan(500);
      }
    });
    expect(wait).toBeLessThan(SOON_MS);
  });
});

test("a refused body of more than 1 MiB takes a slot of its key, and a small one takes none", async () => {
  served.upstream.run(json(completion()));
  const limited = await served.customer({ rateLimit: 3 });
  const statuses: number[] = [];
  for (const body of [wideChat(6_000), ...Array.from({ length: 4 }, () => wideChat(2 * MIB))]) {
    const small = await sendChat("{}", limited);
    const { status } = await sendChat(body, limited);
    statuses.push(small.status, status);
  }
  // The window is full behind the third large body; from then on nothing of the key is read.
  expect(statuses).toEqual([400, 200, 400, 400, 400, 400, 400, 429, 429, 429]);
});
