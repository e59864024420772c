// A client of REST as its users write one. Its types come from openapi.json; generated-client.test.ts makes and compiles them.

import type { components, operations, paths } from "./schema.ts";

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;
type Events<Answer> = Answer extends { content: { "text/event-stream": infer Event } } ? Event : never;
type Sent<Operation> = Operation extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : never;
type Ok<Operation> = Operation extends { responses: { 200: infer Answer } } ? Answer : never;

type Chat = paths["/v1/chat/completions"]["post"];
type Send = (path: keyof paths, body?: unknown) => Promise<Response>;

/** A whole answer: what OpenAI's clients read first. */
export async function ask(send: Send, text: string): Promise<{ text: string; cost: string }> {
  const body: Sent<Chat> = { model: "acme/large", messages: [{ role: "user", content: text }] };
  const response = await send("/v1/chat/completions", body);
  if (!response.ok) throw new Error(reasonOf(await response.json()));
  const answer: Json<Ok<Chat>> = await response.json();
  const content = answer.choices[0]?.message?.content;
  return { text: typeof content === "string" ? content : "", cost: answer.usage.cost_idr };
}

/** The text of one event of a stream. */
export function textOf(data: string): string {
  const event: Events<Ok<Chat>> = JSON.parse(data);
  if (!("choices" in event)) throw new Error(`${event.error.code}: ${event.error.message}`);
  const content = event.choices[0]?.delta?.content;
  return typeof content === "string" ? content : "";
}

/** Every transfer, page by page. */
export async function* listTransfers(send: Send): AsyncGenerator<components["schemas"]["Transfer"]> {
  const query: NonNullable<operations["listTransfers"]["parameters"]["query"]> = { page: 1, perPage: 100 };
  for (let pages = 1; (query.page ?? 1) <= pages; query.page = (query.page ?? 1) + 1) {
    const response = await send("/v1/merchant-transfers", query);
    const { data, meta }: Json<Ok<operations["listTransfers"]>> = await response.json();
    yield* data;
    pages = meta.totalPage;
  }
}

/** Orders a transfer, or returns which fields differ from the first order under its externalId. */
export async function order(send: Send, externalId: string): Promise<string> {
  const body: Sent<operations["createTransfer"]> = { externalId, currencyCode: "TRX", amount: 10, address: "T…" };
  const response = await send("/v1/merchant-transfers/create", body);
  if (response.ok) return ((await response.json()) as Json<Ok<operations["createTransfer"]>>).data.status;
  const { meta }: Json<operations["createTransfer"]["responses"][409]> = await response.json();
  return (meta.differingFields ?? []).join(", ");
}

function reasonOf(body: Json<Chat["responses"][402]>): string {
  return typeof body.error === "string" ? body.error : body.error.message;
}

// What the types must refuse; a document that lost them would still compile.
// @ts-expect-error -- a message has a role
export const withoutRole: Sent<Chat> = { model: "acme/large", messages: [{ content: "hi" }] };
// @ts-expect-error -- an amount is a number
export const amountAsText: Sent<operations["calculateTransfer"]> = { currencyCode: "TRX", amount: "10" };
