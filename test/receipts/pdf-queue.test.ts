// What waits for its file: no account waits behind all documents of another, and no document fails for another one.

import { afterEach, expect, test } from "vitest";
import type { Document } from "../../src/billing/documents/document.ts";
import { PdfMaker } from "../../src/billing/documents/pdf-maker.ts";
import { ServiceBusy, TooManyAtOnce } from "../../src/kernel/errors.ts";

const program = new URL("scripted-thread.ts", import.meta.url);
const makers: PdfMaker[] = [];
afterEach(() => Promise.all(makers.splice(0).map((maker) => maker.close())));

/** Asks a maker for documents, and keeps the order in which they end. */
function start(patience: { turnWithinMs?: number; drawnWithinMs?: number } = {}) {
  const maker = new PdfMaker({ program, ...patience });
  makers.push(maker);
  const ended: string[] = [];
  const ask = (accountId: string, script: string) =>
    maker.make(accountId, script as never as Document).then(
      () => void ended.push(script),
      (error: unknown) => void ended.push(`${script}: ${error instanceof Error ? error.constructor.name : ""}`),
    );
  return { ask, ended };
}

test("accounts take turns", async () => {
  const { ask, ended } = start();
  await Promise.all([ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("b", "b1"), ask("b", "b2"), ask("c", "c1")]);
  expect(ended).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
});

test.each(["hang", "end"])(
  "a document that fails (%s) fails alone, and the others are drawn",
  async (script) => {
    const { ask, ended } = start({ drawnWithinMs: 5_000 });
    await Promise.all([ask("a", script), ask("a", "a1"), ask("b", "b1"), ask("b", "b2")]);
    expect(ended).toEqual([`${script}: Error`, "a1", "b1", "b2"]);
  },
  60_000,
);

test("a document that waits too long for its turn is refused, and may be asked for again", async () => {
  const { ask, ended } = start({ turnWithinMs: 100, drawnWithinMs: 5_000 });
  const hanging = ask("a", "hang");
  await Promise.all([ask("b", "b1"), ask("c", "c1")]);
  expect(ended).toEqual(["b1: ServiceBusy", "c1: ServiceBusy"]);
  await hanging;
  await ask("b", "b1");
  expect(ended.slice(2)).toEqual(["hang: Error", "b1"]);
}, 60_000);

test("an account has four documents at most, all have 33, and more are refused so that a caller may try again", async () => {
  const maker = new PdfMaker({ program });
  const make = (accountId: string) => maker.make(accountId, "hang" as never);
  const asked = Array.from({ length: 33 }, (_, index) => make(String(index % 10)).catch((error: unknown) => error));
  await expect(make("0")).rejects.toThrow(TooManyAtOnce);
  await expect(make("another")).rejects.toThrow(ServiceBusy);
  await maker.close();
  for (const error of await Promise.all(asked)) expect(error).toBeInstanceOf(ServiceBusy);
});
