// llms.txt: what a program needs to call this service, in English, with the models and prices of the catalog. It is made once for
// each snapshot of the catalog.

import type { CatalogModel, CatalogSnapshot } from "../../catalog/catalog-model.ts";
import { priceTables } from "./docs-prices.ts";

/** A page of the documentation: its name in an address, its title, and its first paragraph. */
export type Heading = { readonly page: string; readonly title: string; readonly about: string };

/** Makes the function that gives the text for a snapshot. */
export function createLlmsText(
  headings: readonly Heading[],
  baseUrl: () => string,
): (snapshot: CatalogSnapshot) => string {
  const texts = new WeakMap<CatalogSnapshot, { readonly origin: string; readonly text: string }>();
  return (snapshot) => {
    const origin = baseUrl();
    const known = texts.get(snapshot);
    if (known?.origin === origin) return known.text;
    const text = textOf(origin, headings, [...snapshot.models.values()]);
    texts.set(snapshot, { origin, text });
    return text;
  };
}

function textOf(origin: string, headings: readonly Heading[], models: readonly CatalogModel[]): string {
  const links = headings.map(({ page, title, about }) => `- [${title}](${origin}/docs/${page}.md?lang=en): ${about}`);
  return [
    "# Saldo",
    "> A prepaid model gateway in rupiah with the formats of OpenAI, Anthropic and Google, and crypto transfers for merchants.",
    "## How to call it",
    callingOf(origin),
    ["```sh", exampleCall(origin, exampleOf(models)), "```"].join("\n"),
    "## Documentation",
    [
      ...links,
      `- [OpenAPI](${origin}/openapi.json): The whole REST API for tools`,
      `- [API reference](${origin}/docs/api): The same to read and search`,
    ].join("\n"),
    "## Models and prices",
    "Rupiah per million tokens, as of now. The ids are the values of `model`.",
    priceTables(models, "en"),
    "",
  ].join("\n\n");
}

function callingOf(origin: string): string {
  return [
    `- Base URL for OpenAI's formats: ${origin}/v1. For the clients of Anthropic and Google: ${origin}, because they add the version.`,
    `- Authentication: the header \`Authorization: Bearer gw_…\`. Anthropic's clients may send \`x-api-key\`, Google's \`x-goog-api-key\`. A person signs up at ${origin}/sign-up and makes a key at ${origin}/keys.`,
    "- `POST /v1/chat/completions`: OpenAI's chat completions.",
    "- `POST /v1/responses`: OpenAI's Responses.",
    "- `POST /v1/messages`: Anthropic's Messages.",
    "- `POST /v1beta/models/{id}:generateContent`, `:streamGenerateContent?alt=sse`: Google's Gemini API.",
    "- `POST /v1/embeddings`: vectors of texts, with a model of the kind `embeddings`.",
    "- `GET /v1/models`: these models as JSON, with a key. `GET /v1/balance`: what is left. `GET /v1/key`: the limits of the key, and what is left of them.",
    "- Each model for conversations answers in the first four formats. `usage.cost_idr` of an answer is what it cost.",
  ].join("\n");
}

function exampleCall(origin: string, model: string): string {
  return [
    `curl ${origin}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $SALDO_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
  ].join("\n");
}

/** The chat model that examples name: the cheapest that costs something, else the first. */
export function exampleOf(models: readonly CatalogModel[]): string {
  const chatModels = models.filter(({ kind }) => kind === "chat");
  const priced = chatModels.filter(({ inputPrice }) => inputPrice > 0n);
  const [example = chatModels[0]] = priced.toSorted((one, other) => (one.inputPrice < other.inputPrice ? -1 : 1));
  return example?.id ?? "MODEL_ID";
}
