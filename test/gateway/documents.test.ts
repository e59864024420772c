// Documents of clients: which upstreams get them, what is held for their pages, and what is billed without a count.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdAdditions } from "../../src/gateway/admission/hold-additions.ts";
import { heldDocuments } from "../../src/gateway/admission/held-documents.ts";
import { type HoldPlan, planHold, usageBounds } from "../../src/gateway/admission/hold.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import { writeChatRequest } from "../../src/gateway/conversation/chat/write-chat-request.ts";
import { geminiProtocol } from "../../src/gateway/conversation/gemini/gemini-protocol.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import { readRequest } from "../../src/gateway/request/read-request.ts";
import type { OpenRoute } from "../../src/gateway/upstreams/upstreams.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fakes/anthropic.ts";
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, KEY, modelOf, openBench, upstreamOf } from "./support.ts";

/** A PDF of so many pages, as its plain objects. */
function pdf(pages: number, more = ""): string {
  const kids = Array.from({ length: pages }, (_, index) => `${index + 3} 0 R`).join(" ");
  const objects = Array.from(
    { length: pages },
    (_, index) => `${index + 3} 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`,
  );
  const tree = `2 0 obj\n<< /Type /Pages /Kids [${kids}] /Count ${pages} >>\nendobj\n`;
  return Buffer.from(`%PDF-1.4\n${tree}${objects.join("")}${more}%%EOF`).toString("base64");
}

type Client = { readonly protocol: ClientProtocol; readonly bodyOf: (data: string) => object; readonly field: string };
const CLIENTS: Readonly<Record<string, Client>> = {
  messages: {
    protocol: messagesProtocol,
    bodyOf: (data) => ({
      model: "acme/m",
      max_tokens: 50,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "read it" },
            { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
          ],
        },
      ],
    }),
    field: "messages[0].content[1].source",
  },
  responses: {
    protocol: responsesProtocol,
    bodyOf: (data) => ({
      model: "acme/m",
      input: [
        {
          role: "user",
          content: [{ type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` }],
        },
      ],
    }),
    field: "input[0].content[0].file_data",
  },
  gemini: {
    protocol: geminiProtocol({ model: "acme/m", stream: false }),
    bodyOf: (data) => ({
      contents: [{ role: "user", parts: [{ inlineData: { mimeType: "application/pdf", data } }] }],
    }),
    field: "contents[0].parts[0].inlineData.data",
  },
};

const MODEL = modelOf("acme/m", { contextLength: 500_000, inputModalities: ["text", "image"] });

function planOf({ protocol, bodyOf }: Client, data: string): HoldPlan {
  const body = Buffer.from(JSON.stringify(bodyOf(data)));
  const { conversation, native = null } = protocol.read(body);
  const request = readRequest(writeChatRequest(conversation));
  const client = { protocol: protocol.name, body, conversation, native };
  const route = { upstream: { id: "a", kind: "anthropic" }, model: "claude-haiku-4-5" } as unknown as OpenRoute;
  return planHold(request, MODEL, holdAdditions(request, client, [route]));
}

describe.each(Object.entries(CLIENTS))("a document of a client of %s", (_name, client) => {
  it.each([
    ["a page of much text", ""],
    ["packed objects", "9 0 obj\n<< /Type /ObjStm /N 4 >>\nstream\nx\nendstream\nendobj\n"],
    ["encryption", "trailer << /Encrypt 4 0 R >>\n"],
    ["names in escapes", "9 0 obj\n<< /Typ#65 /Pag#65 >>\nendobj\n"],
    ["comments within names", "9 0 obj\n<< /Type % a\n/Page >>\nendobj\n"],
  ])("is held and bounded at the whole context window: it may have %s", (_what, more) => {
    const plan = planOf(client, pdf(1, more));
    expect(plan.inputTokens).toBe(MODEL.contextLength);
    // What an upstream honestly reports is billed, however few bytes the page has.
    expect(usageBounds(plan, null).input).toBeGreaterThanOrEqual(MODEL.contextLength);
  });

  it("is read in little time, whatever it repeats", () => {
    for (const again of ["stream\n", "/Type ", "/Count ", "/a", "/", "endstream ", "/Type /Page"]) {
      const data = Buffer.from(`%PDF-1.4\n${again.repeat(Math.ceil(3_000_000 / again.length))}`).toString("base64");
      const startedAt = performance.now();
      heldDocuments([{ kind: "document", mediaType: "application/pdf", data, name: null, where: "" }]);
      expect(performance.now() - startedAt, again).toBeLessThan(1_500);
    }
  });

  it("is billed at what pages usually have where no upstream counts it", () => {
    expect(planOf(client, pdf(4)).mediaTokens).toBe(4 * 2_300);
  });
});

describe("a document", () => {
  let claude: FakeAnthropic;
  let local: ScriptedUpstream;
  let bench: Bench;
  beforeAll(async () => {
    claude = await startFakeAnthropic();
    local = await startScriptedUpstream();
    local.run(json(completion()));
    bench = openBench({
      models: [
        { id: "acme/m", routes: ["local", "claude"], inputModalities: ["text", "image"] as const },
        { id: "acme/chat", routes: ["local"], inputModalities: ["text", "image"] as const },
        { id: "acme/text", routes: ["claude"], inputModalities: ["text"] as const },
      ].map(({ id, routes, inputModalities }) =>
        modelOf(id, { inputModalities, routes: routes.map((upstream) => ({ upstream, model: "m" })) }),
      ),
      upstreams: [upstreamOf("claude", claude.baseUrl, { kind: "anthropic" }), upstreamOf("local", local.baseUrl)],
    });
  });
  afterAll(async () => {
    await bench.upstreams.close();
    await claude.stop();
    await local.stop();
  });

  async function send({ protocol, bodyOf }: Client, model: string): Promise<void> {
    const body = Buffer.from(JSON.stringify({ ...bodyOf(pdf(1)), ...(protocol.name === "gemini" ? {} : { model }) }));
    const read = protocol.name === "gemini" ? geminiProtocol({ model, stream: false }) : protocol;
    const keys = { takeSlot: async () => {} } as never;
    const call = { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, headers: {}, body };
    const output = new RpcOutput(AbortSignal.any([]));
    await answerConversation({ gateway: bench.gateway, protocol: read, keys }, call, output);
  }

  it.each(Object.entries(CLIENTS))("of a client of %s goes to the upstream that reads it", async (_name, client) => {
    claude.requests.length = 0;
    await send(client, "acme/m");
    expect(JSON.stringify(claude.requests[0]?.body)).toContain(pdf(1));
    expect(local.received).toEqual([]);
  });

  it.each(
    Object.entries(CLIENTS).flatMap(([name, client]) =>
      ["acme/chat", "acme/text"].map((model) => ({ name, client, model })),
    ),
  )("of a client of $name is refused by its field at $model, which reads none", async ({ client, model }) => {
    const before = bench.ledger.admissions.length;
    await expect(send(client, model)).rejects.toMatchObject({
      details: [{ field: client.field, rule: "modality" }],
    });
    expect(bench.ledger.admissions).toHaveLength(before);
  });
});
