// OpenAI's client library in a page of another site, in a real browser: a browser client of this gateway.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Gateway } from "../../src/gateway/chat.ts";
import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { RATE, SECRET, startServers, type Running } from "../transport/fakes.ts";
import { browserOfWorker } from "./chromium.ts";

/** Answers like a model, streamed where the request asks for it. */
const gateway: Gateway = {
  async answerChat({ body }, sink) {
    const streamed = body.includes('"stream":true');
    const choice = { index: 0, finish_reason: "stop" };
    const message = { role: "assistant", content: "halo" };
    const whole = { id: "chatcmpl-1", object: "chat.completion", model: "m", choices: [{ ...choice, message }] };
    const chunk = { ...whole, object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
    const head = { rate: RATE, demo: true, origin: "demo" };
    if (streamed) {
      sink.begin(head);
      sink.end({ passed: Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`), format: CHAT_FORMAT });
    } else sink.answer(head, { json: Buffer.from(JSON.stringify(whole)), format: CHAT_FORMAT, costIdr: "0.5" });
    return "answered";
  },
};

let running: Running;
let site: Server;
let page: Page;

async function bundleOfClient(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve("openai"));
  const bundle = await rolldown({ input: entry, platform: "browser", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "iife", name: "openai" });
  await bundle.close();
  return output[0].code;
}

beforeAll(async () => {
  const client = await bundleOfClient();
  site = createServer((request, response) => {
    const isScript = request.url === "/openai.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? client : '<!doctype html><title>another site</title><script src="/openai.js"></script>');
  });
  const [servers, browser] = await Promise.all([
    startServers({ gateway }),
    browserOfWorker(),
    once(site.listen(0, "localhost"), "listening"),
  ]);
  running = servers;
  page = await browser.newPage();
  // Another name than the server's address, and therefore another site for the browser.
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await page.close();
  site.closeAllConnections();
  site.close();
  await running.servers.close(1_000);
});

/** The results of a page with the client library. */
function ask(apiKey: string): Promise<Record<string, unknown>> {
  return page.evaluate(
    async ({ baseURL, key }) => {
      const { OpenAI } = Reflect.get(globalThis, "openai");
      const client = new OpenAI({ apiKey: key, baseURL, dangerouslyAllowBrowser: true, maxRetries: 0 });
      const messages = [{ role: "user", content: "halo" }];
      try {
        const models = await client.models.list();
        const { data, response } = await client.chat.completions.create({ model: "m", messages }).withResponse();
        const stream = await client.chat.completions.create({ model: "m", messages, stream: true });
        let streamed = "";
        for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? "";
        return {
          models: models.data.length,
          whole: data.choices[0].message.content,
          streamed,
          cost: response.headers.get("x-saldo-cost-idr"),
          remaining: response.headers.get("x-ratelimit-remaining-requests"),
          requestId: response.headers.get("x-request-id"),
        };
      } catch (error) {
        const { status, requestID } = error as { status?: number; requestID?: string };
        return { failure: String(error), status, requestId: requestID };
      }
    },
    { baseURL: `${running.http}/v1`, key: apiKey },
  );
}

const REQUEST_ID = expect.stringMatching(/^[0-9a-f-]{36}$/);

test("a page of another site calls models and chat with a key, whole and streamed", async () => {
  expect(await ask(SECRET)).toEqual({
    models: 1,
    whole: "halo",
    streamed: "halo",
    cost: "0.5",
    remaining: "41",
    requestId: REQUEST_ID,
  });
});

test("it reads why a key is refused", async () => {
  expect(await ask("gw_wrong")).toMatchObject({ status: 401, requestId: REQUEST_ID });
});

test("it can send no cookies, and call nothing outside /v1", async () => {
  const outcomes = await page.evaluate(async (base) => {
    const outcomeOf = (path: string, init: RequestInit) =>
      fetch(base + path, init).then(
        () => "answered",
        () => "blocked",
      );
    return {
      plain: await outcomeOf("/v1/models", {}),
      cookies: await outcomeOf("/v1/models", { credentials: "include" }),
      session: await outcomeOf("/auth/get-session", {}),
      document: await outcomeOf("/openapi.json", {}),
      rpc: await outcomeOf("/saldo.gateway.v1.GatewayService/ListModels", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      }),
    };
  }, running.http);
  expect(outcomes).toEqual({
    plain: "answered",
    cookies: "blocked",
    session: "blocked",
    document: "blocked",
    rpc: "blocked",
  });
});
