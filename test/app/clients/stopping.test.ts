import { afterAll, beforeAll, expect, it } from "vitest";
import { chunk, wire } from "../../gateway/scripted-upstream.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({ inOwnProcess: true, models: { slow: { price: { input: "5000", output: "15000" } } } });
});
afterAll(() => served.stop());

it("a stop gives up what is read on for clients that have left, and bills it before it ends", async () => {
  const { accountId, key } = await served.customer({ rateLimit: 0 });
  const closed = Promise.withResolvers<void>();
  served.upstream.run((response) => {
    response.on("close", closed.resolve);
    response.writeHead(200, { "content-type": "text/event-stream" });
    // The upstream sends no more: read on, it would be waited for half a minute.
    response.write(wire([chunk({ content: "Halo" })]));
  });
  const leaving = new AbortController();
  const answer = await fetch(`${served.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "local/slow", stream: true, messages: [{ role: "user", content: "hi" }] }),
    signal: leaving.signal,
  });
  await answer.body?.getReader().read();
  leaving.abort();
  for (let time = 0; time < 3; time += 1) await fetch(`${served.server.httpUrl}/healthz`);
  expect(await served.usage(accountId)).toEqual([]);
  expect(await served.server.stop()).toBe(0);
  await closed.promise;
  expect(await served.usage(accountId)).toMatchObject([{ basis: "estimated", outputTokens: 1 }]);
  expect(await served.balance(accountId)).toMatchObject({ held: "0" });
});
