// An upstream whose connections carry bytes that answer no request: HTTP/1.1 would give them to the next request, and so one
// customer's answer to another. After the first sign of it no connection serves a second request.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstreams, type Upstreams } from "../../src/gateway/upstreams/upstreams.ts";
import { type RawScript, rawJson, startRawUpstream } from "./raw-upstream.ts";
import { completion } from "./scripted-upstream.ts";
import { type Bench, chat, FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

let upstream: Awaited<ReturnType<typeof startRawUpstream>>;
let upstreams: Upstreams;
let bench: Bench;
let mixedUp: string[];

beforeAll(async () => {
  upstream = await startRawUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  mixedUp = [];
  upstreams = createUpstreams({ credential: () => undefined, onMixedUp: (id) => mixedUp.push(id) });
  bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", upstream.baseUrl)],
    deps: { upstreams },
  });
});
afterEach(() => upstreams.close());

/** The answer to a request repeats what was asked. */
const answerTo = (body: string): string => {
  const asked = /"content":"([^"]*)"/.exec(body)?.[1] ?? "";
  const message = { role: "assistant", content: `answer to ${asked}` };
  return rawJson(completion({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
};
const STRAY = rawJson(
  completion({ choices: [{ index: 0, message: { role: "assistant", content: "stray" }, finish_reason: "stop" }] }),
);
const wellBehaved: RawScript = (socket, { body }) => void socket.write(answerTo(body));

/** What a customer is answered. */
async function ask(question: string): Promise<string> {
  const { sink } = await bench.send(chat("local/m", question), new FakeSink());
  // undici takes a turn or two to have the connection ready for the next request.
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return /"content":"([^"]*)"/.exec(sink.bytes.toString())?.[1] ?? "";
}

describe("an upstream that is well behaved", () => {
  it("keeps its connection, and is not marked", async () => {
    upstream.run((socket, { body }) => void socket.write(`${answerTo(body)}\r\n`));
    for (const name of ["a", "b", "c"]) expect(await ask(name)).toBe(`answer to ${name}`);
    expect(upstream.requests).toEqual([3]);
    expect(mixedUp).toEqual([]);
  });

  it("may end an idle connection, or break one in use, without being marked", async () => {
    upstream.run((socket, { number, body }) => {
      if (number === 2) socket.end("HTTP/1.1 nonsense\r\n\r\n");
      else if (number === 3) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      else socket.end(answerTo(body));
    });
    expect(await ask("a")).toBe("answer to a");
    await until(() => upstream.openSockets === 0);
    await ask("b");
    await ask("c");
    expect(await ask("d")).toBe("answer to d");
    expect(mixedUp).toEqual([]);
  });
});

describe("an upstream that sends what answers no request", () => {
  it.each<[string, RawScript]>([
    ["a second answer at once", (socket, { body }) => void socket.write(answerTo(body) + STRAY)],
    ["bytes that are no answer", (socket, { body }) => void socket.write(`${answerTo(body)}xyz`)],
    [
      "a second answer while the connection is idle",
      (socket, { body }) => {
        socket.write(answerTo(body));
        setTimeout(() => socket.write(STRAY), 10);
      },
    ],
  ])("is marked, and none of its connections serves a second request: %s", async (_name, script) => {
    upstream.run(script);
    expect(await ask("a")).toBe("answer to a");
    await until(() => mixedUp.length === 1);
    for (const name of ["b", "c", "d"]) expect(await ask(name)).toBe(`answer to ${name}`);
    expect(upstream.requests).toEqual([1, 1, 1, 1]);
    expect(mixedUp).toEqual(["local"]);
  });

  it("can hand one stray answer on where it comes with the next request, and is marked by what follows", async () => {
    upstream.run((socket, { number, body }) => {
      if (number === 1) socket.write(answerTo(body));
      else {
        // The stray answer lay in the upstream's kernel until our next packet acknowledged the one before it.
        socket.write(number === 2 ? STRAY : answerTo(body));
        if (number === 2) setTimeout(() => socket.write(answerTo(body)), 5);
      }
    });
    expect(await ask("a")).toBe("answer to a");
    // On the wire it looks like an answer.
    expect(await ask("b")).toBe("stray");
    await until(() => mixedUp.length === 1);
    for (const name of ["c", "d", "e"]) expect(await ask(name)).toBe(`answer to ${name}`);
    expect(upstream.requests).toEqual([2, 1, 1, 1]);
  });

  it("has its other idle connections closed, and those in use end by themselves", async () => {
    let release = (): void => undefined;
    upstream.run((socket, { number, body }) => {
      if (number === 1) release = () => void socket.write(answerTo(body));
      else if (number === 3) socket.write(answerTo(body) + STRAY);
      else socket.write(answerTo(body));
    });
    const slow = ask("slow");
    await until(() => upstream.requests.length === 1);
    expect(await ask("b")).toBe("answer to b");
    expect(await ask("c")).toBe("answer to c");
    await until(() => mixedUp.length === 1);
    release();
    expect(await slow).toBe("answer to slow");
    await until(() => upstream.openSockets === 0);
    expect(await ask("d")).toBe("answer to d");
    expect(upstream.requests).toEqual([1, 2, 1]);
  });

  it("starts again when its settings change", async () => {
    upstream.run((socket, { body }) => void socket.write(answerTo(body) + STRAY));
    await ask("a");
    await until(() => mixedUp.length === 1);
    upstream.run(wellBehaved);
    bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", upstream.baseUrl, { idleTimeoutMs: 900 })],
      deps: { upstreams },
    });
    for (const name of ["b", "c"]) await ask(name);
    expect(upstream.requests).toEqual([2]);
  });
});

describe("a mark of another process", () => {
  it("counts when it was made since this process opened the upstream", async () => {
    upstream.run(wellBehaved);
    await ask("a");
    upstreams.markMixedUp("local", 60_000);
    await ask("b");
    expect(upstream.requests).toEqual([2]);
    upstreams.markMixedUp("unknown", 0);
    upstreams.markMixedUp("local", 0);
    for (const name of ["c", "d"]) expect(await ask(name)).toBe(`answer to ${name}`);
    expect(upstream.requests).toEqual([2, 1, 1]);
    // It is another's finding, which needs no second alarm.
    expect(mixedUp).toEqual([]);
  });
});
