// Models whose reasoning is charged and not shown, although the catalog does not mark them.

import { beforeEach, describe, expect, it } from "vitest";
import { Drains } from "../../src/gateway/answer/drains.ts";
import { LearnedModels } from "../../src/gateway/upstreams/learned-models.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

const playground = usePlayground();
let learned: LearnedModels;
beforeEach(() => {
  learned = new LearnedModels();
  playground.bench = openBench({
    models: [modelOf("local/m"), modelOf("local/other")],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    deps: { learned, drains: new Drains({ most: 10, withinMs: 5_000 }) },
  });
});

const usage = (output: number, reasoning?: number) => ({
  prompt_tokens: 11,
  completion_tokens: output,
  total_tokens: 11 + output,
  ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
});
const says = (told: unknown, ...deltas: readonly object[]): Script =>
  stream(wire([...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), usageChunk(told), "[DONE]"]));

/** What is held for a stream: a slab of its output, or the whole bound. */
async function held(model = "local/m"): Promise<"slab" | "bound"> {
  playground.upstream.run(says(usage(3), { content: "Halo" }));
  await playground.bench.send({ ...STREAMED, model });
  const tokens = (playground.bench.ledger.admissions.at(-1)?.amount ?? 0n) / 15_000n;
  return tokens < 5_000n ? "slab" : "bound";
}
const kinds = (): string[] => playground.bench.events.map(({ kind }) => kind);

describe("a model that is charged for output which was not shown", () => {
  it.each<[string, Script, unknown]>([
    ["reasoning in the usage of a stream", says(usage(900, 880), { content: "Halo" }), STREAMED],
    ["reasoning in the usage of a whole answer", json(completion({ usage: usage(900, 880) })), WHOLE],
    ["far more output than was written", says(usage(900), { content: "Halo" }), STREAMED],
  ])("holds its whole bound from then on, and is reported to the operator once: %s", async (_name, script, body) => {
    expect(await held()).toBe("slab");
    for (let time = 0; time < 2; time += 1) {
      playground.upstream.run(script);
      await playground.bench.send(body);
    }
    expect(await held()).toBe("bound");
    expect(await held("local/other")).toBe("slab");
    expect(playground.bench.events).toEqual([
      expect.objectContaining({ kind: "hidden_output_learned", model: "local/m", upstream: "local" }),
    ]);
  });

  it("is learnt from a stream whose client has left, too", async () => {
    expect(await held()).toBe("slab");
    const sink = new FakeSink();
    sink.onWrite = () => {
      sink.leave();
      return true;
    };
    playground.upstream.run(says(usage(900, 880), { content: "Halo" }, { content: " dunia" }));
    await playground.bench.send(STREAMED, sink);
    expect(playground.bench.ledger.settlements.at(-1)).toMatchObject({ basis: "drained", outputTokens: 900 });
    expect(await held()).toBe("bound");
  });

  it("is learnt from a whole answer whose client has left, too", async () => {
    expect(await held()).toBe("slab");
    const sink = new FakeSink();
    playground.upstream.run((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(" ");
      setImmediate(() => {
        sink.leave();
        response.end(completion({ usage: usage(900, 880) }));
      });
    });
    await playground.bench.send(WHOLE, sink);
    expect(playground.bench.ledger.settlements.at(-1)).toMatchObject({ basis: "drained", outputTokens: 900 });
    expect(await held()).toBe("bound");
  });

  it("is not learnt from a stream that went on in full behind its client's leaving", async () => {
    const sink = new FakeSink();
    sink.onWrite = () => {
      sink.leave();
      return true;
    };
    const words = Array.from({ length: 900 }, () => ({ content: " word" }));
    playground.upstream.run(says(usage(900, 0), ...words));
    await playground.bench.send(STREAMED, sink);
    expect(playground.bench.ledger.settlements.at(-1)).toMatchObject({ basis: "drained", outputTokens: 900 });
    expect(kinds()).toEqual([]);
    expect(await held()).toBe("slab");
  });

  it.each<[string, Script, unknown]>([
    ["reasoning that was relayed", says(usage(903, 900), { reasoning_content: "word ".repeat(900) }), STREAMED],
    ["hardly any reasoning", says(usage(40, 38), { content: "Halo" }), STREAMED],
    ["no usage", says(undefined, { content: "Halo" }), STREAMED],
  ])("is not learnt from %s", async (_name, script, body) => {
    playground.upstream.run(script);
    await playground.bench.send(body);
    expect(kinds()).toEqual([]);
    expect(await held()).toBe("slab");
  });

  it("is shared with other processes by the database, written in the background", async () => {
    const rows: unknown[][] = [];
    const pool = {
      query(sql: string, values: unknown[] = []) {
        if (sql.includes("INSERT")) rows.push(values);
        return Promise.resolve({ rows: rows.map(([model, upstream]) => ({ model, upstream, since: new Date(0) })) });
      },
    } as never;
    playground.upstream.run(says(usage(900, 880), { content: "Halo" }));
    const { requestId } = await playground.bench.send(STREAMED);
    await learned.exchange(pool);
    await learned.exchange(pool);
    expect(rows).toEqual([["local/m", "local", requestId]]);
    const other = new LearnedModels();
    const model = modelOf("local/m");
    expect(other.apply(model)).toBe(model);
    await other.exchange(pool);
    expect(other.apply(model)).toMatchObject({ id: "local/m", hiddenOutput: true });
  });
});
