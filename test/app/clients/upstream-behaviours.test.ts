// Every behaviour of the tables, through the official client against the real service: what the client sees, what it pays,
// how that is known, and that nothing stays held.

import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Behaviour, type Billed, MAX_TOKENS, scriptOf } from "../../gateway/behaviours.ts";
import { streamedBehaviours } from "../../gateway/streamed-behaviours.ts";
import { wholeBehaviours } from "../../gateway/whole-behaviours.ts";
import { type Customer, type ServedSaldo, serveSaldo, type UsageLine } from "./served-saldo.ts";
import { allowProblems } from "../../setup/answers/problems.ts";

let served: ServedSaldo;
let customer: Customer;
let client: OpenAI;

beforeAll(async () => {
  served = await serveSaldo({
    models: { odd: { price: { input: "5000", output: "15000", cache_hit: "950" } } },
    upstream: { first_byte_timeout_ms: 800, idle_timeout_ms: 800 },
  });
  customer = await served.customer({ credit: "10000", rateLimit: 0 });
  client = new OpenAI({ apiKey: customer.key, baseURL: served.baseUrl, maxRetries: 0 });
});
afterAll(() => served.stop());

/** The answer to a client, in the words of the tables. */
async function play({ act }: Behaviour, stream: boolean): Promise<unknown> {
  const leaving = new AbortController();
  const [left, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  served.upstream.run(scriptOf(act, { read: read.promise, left: left.promise, leave: () => void leave() }));
  const request = { model: "local/odd", max_tokens: MAX_TOKENS, messages: [{ role: "user" as const, content: "hi" }] };
  const options = { signal: leaving.signal };
  try {
    if (!stream) {
      const whole = await client.chat.completions.create(request, options);
      return { text: whole.choices[0]?.message.content ?? "" };
    }
    const streamed = await client.chat.completions.create({ ...request, stream: true }, options);
    const seen = await readStream(streamed, read.resolve);
    // The client ends its stream quietly when it leaves.
    return leaving.signal.aborted ? "nothing" : seen;
  } catch (error) {
    if (error instanceof OpenAI.APIUserAbortError) return "nothing";
    if (error instanceof OpenAI.APIError) return { status: error.status };
    throw error;
  }

  async function leave(): Promise<void> {
    // What was sent before is on its way to the client; its leaving comes behind.
    leaving.abort();
    // A server that has answered a later request has seen the end of an earlier connection.
    for (let time = 0; time < 3; time += 1) await fetch(`${served.server.httpUrl}/healthz`);
    left.resolve();
  }
}

/** The text of a stream, and the code of the error that broke it off. */
async function readStream(events: AsyncIterable<OpenAI.ChatCompletionChunk>, isRead: () => void) {
  let text = "";
  try {
    for await (const { choices } of events) {
      text += choices[0]?.delta.content ?? "";
      if (text === "Halo dunia") isRead();
    }
  } catch (error) {
    if (error instanceof OpenAI.APIError && error.status === undefined) return { text, breaksWith: error.code };
    throw error;
  }
  return { text };
}

/** Waits for the record of a request, which a client that has left does not. */
async function nextRecord(known: number): Promise<UsageLine> {
  for (let tries = 0; tries < 500; tries += 1) {
    const records = await served.usage(customer.accountId);
    const [newest] = records;
    if (newest !== undefined && records.length === known + 1) return newest;
    await sleep(10);
  }
  throw new Error("the request was not settled");
}

/** How a record was billed, by the table. */
function billedOf(
  { output, input, cached, clamped = false }: Billed,
  record: UsageLine,
): Billed & { streamed: boolean } {
  const { outputTokens, inputTokensUncached, inputTokensCached, basis, streamed } = record;
  const isWithin = typeof output === "object" && output.from <= outputTokens && outputTokens <= output.to;
  return {
    basis: basis as Billed["basis"],
    clamped: clamped === record.clamped ? clamped : record.clamped,
    ...(input === undefined ? {} : { input: inputTokensUncached }),
    ...(cached === undefined ? {} : { cached: inputTokensCached }),
    output: isWithin ? output : outputTokens,
    streamed,
  };
}

describe.each([
  { kind: "whole", stream: false, behaviours: wholeBehaviours },
  { kind: "streamed", stream: true, behaviours: streamedBehaviours },
])("an upstream asked for a $kind answer", ({ stream, behaviours }) => {
  // An upstream's usage that is no object is relayed as it came; the gateway's own usage is in a chunk of its own.
  beforeAll(() => allowProblems(/ 200: \/usage must be object .*"usage":"14 tokens"/));

  it.each(behaviours)("is seen and billed by its rule: $name", async (behaviour) => {
    const known = (await served.usage(customer.accountId)).length;
    const before = await served.balance(customer.accountId);
    expect(await play(behaviour, stream)).toEqual(behaviour.sees);
    const record = await nextRecord(known);
    expect(billedOf(behaviour.billed, record)).toEqual({ clamped: false, ...behaviour.billed, streamed: stream });
    expect(record.charge).toBe(record.cost);
    expect(served.upstream.received).toHaveLength(behaviour.calls ?? 1);
    const after = await served.balance(customer.accountId);
    expect(after.held).toBe("0");
    expect((Number(before.posted) - Number(after.posted)).toFixed(6)).toBe(Number(record.charge).toFixed(6));
  });
});

describe("what the behaviours leave behind", () => {
  it("are sixty and more", () => {
    expect(wholeBehaviours.length + streamedBehaviours.length).toBeGreaterThan(60);
  });

  it("is found with its basis by the operator, and the books are in order", async () => {
    const listed = (await served.saldo([
      "usage",
      "list",
      "--account",
      customer.accountId,
      "--limit",
      "200",
    ])) as unknown;
    const { records } = listed as { records: { basis: string }[] };
    const bases = new Set(records.map(({ basis }) => basis));
    expect([...bases].toSorted()).toEqual(["drained", "estimated", "exact", "free"]);
    expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
  });
});
