// kill -9 of a gateway in the middle of a long stream: the progress recorded at its last extension is charged, to the
// millionth.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import { chunk, type Script, wire } from "../gateway/scripted-upstream.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { passLease } from "../setup/pass-lease.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { Service } from "./service.ts";

const BALANCE = 1_000_000_000n;
const PIECES = 30;
const WORDS_OF_PIECE = 100;
/** An upstream call without delay on an idle machine. */
const SOON_MS = 30_000;
const OUTPUT_PRICE = 15_000n;
/** An extension is requested when half of the first slab is left. */
const HALF_A_SLAB = 2_048n;

/** Sends three thousand words, which is more than half a slab and less than two, and then nothing more. */
const fallsSilent: Script = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let piece = 0; piece < PIECES; piece += 1) {
    response.write(wire([chunk({ content: " word".repeat(WORDS_OF_PIECE) })]));
  }
};

describe("a gateway that is killed while it streams", () => {
  let opened: TestDatabase;
  let service: Service;
  beforeAll(async () => {
    opened = await createTestDatabase();
    service = await Service.create(opened.url);
    service.upstream.run(fallsSilent);
  });
  afterAll(async () => {
    await service.close();
    await opened.drop();
  });

  it("leaves a hold that another one charges by the progress recorded with its last extension", async () => {
    const victim = await service.node();
    await service.nodeHere();
    const { accountId, key } = await service.customer(BALANCE);
    let words = 0;
    const onText = (text: string): void => void (words = text.split(" word").length - 1);
    const asked = service.ask(victim, { key }, { stream: true, maxTokens: 16_000, onText });
    await expect.poll(() => words, { timeout: SOON_MS }).toBe(PIECES * WORDS_OF_PIECE);
    const recoverable = async () => (await service.recoverableOf(accountId))[0];
    await expect.poll(recoverable, { timeout: SOON_MS }).toBeGreaterThan(0n);
    await victim.stop("SIGKILL");
    // No gateway takes it for dead before its lease runs out, so this is what it left.
    const [recorded = 0n] = await service.recoverableOf(accountId);
    // At least the progress that triggered the extension, and the input; no more than was sent.
    expect(recorded).toBeGreaterThan(HALF_A_SLAB * OUTPUT_PRICE);
    expect(recorded).toBeLessThan(BigInt(words) * 2n * OUTPUT_PRICE);
    const { requestId, costIdr, broken } = await asked;
    expect({ costIdr, broken }).toEqual({ costIdr: null, broken: true });
    if (!IS_LONG) await passLease(service.database.pool);
    await expect.poll(() => service.openHolds(), { timeout: 90_000, interval: 250 }).toBe(0);
    expect(await service.usageOf(accountId)).toEqual([{ requestId, basis: "recovered", charge: recorded }]);
    const posted = BALANCE - recorded;
    expect(await service.balance(accountId)).toEqual({ posted, held: 0n, available: posted });
    expect(await service.audit()).toEqual(SOUND);
  }, 120_000);
});
