// Roots are sent to each place that the operator names, oldest first, once each; what a place did not take is sent again, and no other place
// waits for it.

import { readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readRoot, type RootPlaces } from "../../src/billing/proof/send-roots.ts";
import { proofTick } from "../../src/billing/jobs/proof.ts";
import { sealDays } from "../../src/billing/proof/seal.ts";
import type { SignedRoot } from "../../src/billing/proof/seal-store.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { MoneySetup } from "./money-setup.ts";

const KEY = proofKey("a secret of a test that sends the roots of its books");

let setup: MoneySetup;
let texts: string[];
beforeEach(async () => {
  setup = await MoneySetup.create("embedded");
  await setup.account(10_000_000_000n);
  const { pool } = setup.opened.database;
  const roots: SignedRoot[] = [];
  for (const days of [2, 3]) {
    const root = await sealDays(pool, { keys: [KEY], share: 1, nowMs: Date.now() + days * DAY_MS });
    if (root !== null) roots.push(root);
  }
  texts = roots.map(({ text }) => text);
  expect(texts).toHaveLength(2);
});
afterEach(() => setup.close());

/** What the background work does, without waiting for its turn. */
async function send(places: Partial<RootPlaces>): Promise<void> {
  const { pool } = setup.opened.database;
  const all = { file: null, mail: null, webhook: null, ...places };
  await proofTick({ pool, keys: async () => [KEY], places: all }).run(new AbortController().signal);
}

/** A receiver of roots that answers as `status` has it. */
async function receiver() {
  const calls: { url: string; type: string | undefined; body: string }[] = [];
  const status = { next: 204 };
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = await textOf(request);
    calls.push({ url: request.url ?? "", type: request.headers["content-type"], body });
    response.writeHead(status.next, status.next === 302 ? { location: "/elsewhere" } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/roots`,
    calls,
    status,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

it("posts each root once, oldest first, with its signatures", async () => {
  await using place = await receiver();
  await send({ webhook: place.url });
  await send({ webhook: place.url });
  expect(place.calls.flatMap(({ body }) => readRoot(body))).toEqual(texts);
  expect(new Set(place.calls.map(({ url, type }) => `${url} ${type}`))).toEqual(new Set(["/roots application/json"]));
  const [first] = place.calls;
  expect(JSON.parse(first?.body ?? "{}")).toMatchObject({ signatures: [{ key: KEY.id }] });
});

it.each([500, 404, 302])("posts a root again that was answered with %d, and follows no redirect", async (status) => {
  await using place = await receiver();
  place.status.next = status;
  await expect(send({ webhook: place.url })).rejects.toThrow("a root could not be sent");
  expect(place.calls.map(({ url }) => url)).toEqual(["/roots"]);
  place.status.next = 200;
  await send({ webhook: place.url });
  expect(place.calls.slice(1).flatMap(({ body }) => readRoot(body))).toEqual(texts);
});

it("appends to the file and mails although the webhook is away, once each", async () => {
  const file = join(tmpdir(), `roots-${uuidv7()}`);
  const mails: string[] = [];
  const mail = async ({ text }: { text: string }) => void mails.push(text);
  const places = { file, mail, webhook: "http://127.0.0.1:9/roots" };
  await expect(send(places)).rejects.toThrow("a root could not be sent");
  await expect(send(places)).rejects.toThrow("a root could not be sent");
  expect((await readFile(file, "utf8")).split("\n").flatMap(readRoot)).toEqual(texts);
  expect(mails.map((each) => each.split("\n").flatMap(readRoot))).toEqual(texts.map((text) => [text]));
  await rm(file);
});
