// The documentation as programs get it: whole, in both languages, true of this service's address and of the catalog as it is.

import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CatalogModel } from "../../../src/catalog/catalog-model.ts";
import { readMarkdown } from "../../../src/dashboard/pages/docs/markdown.ts";
import { CODING_AGENTS } from "../../../src/dashboard/snippets/agents.ts";
import { DOC_PAGES, DOC_TEXTS } from "../../../src/transport/web/docs.ts";
import { httpStatus } from "../../../src/kernel/http-status.ts";
import { type Running, startServers } from "../fakes.ts";

const ORIGIN = "https://saldo.example";

const model = (id: string, price: bigint): CatalogModel => ({
  id,
  name: id,
  description: "",
  badge: null,
  inputModalities: ["text"],
  contextLength: 131_072,
  maxOutputTokens: 16_384,
  mediaTokens: { image: 1, audio: 1, video: 1 },
  kind: "chat",
  hiddenOutput: false,
  inputPrice: price,
  outputPrice: 3n * price,
  cacheHitPrice: null,
  routes: [],
  createdAt: new Date(0),
});

let models = [model("acme/dear", 9_000_000_000n), model("acme/free", 0n), model("acme/cheap:v1.5", 1_234_567_000n)];
let running: Running;
beforeAll(async () => {
  const snapshot = async () => ({
    takenAtMs: 0,
    models: new Map(models.map((each) => [each.id, each])),
    upstreams: new Map(),
  });
  running = await startServers({ docs: { catalog: { snapshot }, baseUrl: () => ORIGIN } });
});
afterAll(() => running.servers.close(0));

const get = (path: string, headers: Record<string, string> = {}) => fetch(running.http + path, { headers });
const read = (page: string, language: string) => readFile(new URL(`${page}.${language}.md`, DOC_TEXTS), "utf8");

test("every page that is written is served, and every page is written in both languages", async () => {
  const written = (await readdir(DOC_TEXTS)).toSorted();
  expect(written).toEqual(DOC_PAGES.flatMap((page) => [`${page}.en.md`, `${page}.id.md`]).toSorted());
  const listed = await readFile(new URL("../../../src/dashboard/pages/docs/doc-pages.ts", import.meta.url), "utf8");
  expect(listed.replaceAll(/\s/g, "")).toContain(`[${DOC_PAGES.map((page) => `"${page}",`).join("")}]`);
});

test.each(DOC_PAGES)("%s is Markdown with nothing left open", async (page) => {
  for (const language of ["id", "en"]) {
    const answer = await get(`/docs/${page}.md?lang=${language}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    expect(text).toMatch(/^# .+\n\n.+/);
    expect(text).not.toMatch(/\{(origin|models?)\}|\]\(\//);
  }
});

test.each(DOC_PAGES)("%s is the same in both languages, part by part", async (page) => {
  const shapeOf = (text: string) =>
    readMarkdown(text).map((block) =>
      block.kind === "table"
        ? `table of ${block.rows.length}`
        : block.kind === "list"
          ? `list of ${block.items.length}`
          : block.kind,
    );
  expect(shapeOf(await read(page, "id"))).toEqual(shapeOf(await read(page, "en")));
});

test("the language is the address's, else the browser's, else Indonesian", async () => {
  const titleOf = async (answer: Response) => (await answer.text()).split("\n", 1)[0];
  const [indonesian, english] = ["# Galat", "# Errors"];
  expect(await titleOf(await get("/docs/errors.md"))).toBe(english);
  expect(await titleOf(await get("/docs/errors.md", { "accept-language": "fr-FR,fr;q=0.9" }))).toBe(english);
  expect(await titleOf(await get("/docs/errors.md", { "accept-language": "en-GB,en;q=0.9" }))).toBe(english);
  expect(await titleOf(await get("/docs/errors.md", { "accept-language": "id,en;q=0.8" }))).toBe(indonesian);
  expect(await titleOf(await get("/docs/errors.md?lang=id", { "accept-language": "en" }))).toBe(indonesian);
  expect((await get("/docs/errors.md")).headers.get("vary")).toBe("accept-language");
});

test("prices are those of the catalog now, and the example is the cheapest model that costs something", async () => {
  expect(await (await get("/docs/billing.md?lang=en")).text()).toContain(
    "| `acme/cheap:v1.5` | 1234.567 | as input | 3703.701 | 131072 |",
  );
  expect(await (await get("/docs/quick-start.md")).text()).toContain('"model":"acme/cheap:v1.5"');
  models = [model("acme/new", 5_000_000n)];
  const text = await (await get("/llms.txt", { "accept-language": "en" })).text();
  expect(text).toContain("| `acme/new` | 5 | as input | 15 | 131072 |");
  expect(text).not.toContain("acme/cheap");
});

test("prices that few models have are in a table of their own, which is left out where there are none", async () => {
  const tier = { above: 200_000, input: 10_000_000n, output: 30_000_000n, cacheHit: null, cacheWrite: 12_500_000n };
  const otherPrices = { cacheWrite: 6_250_000n, perRequest: 25_500_000n, longContext: [tier] };
  models = [model("acme/plain", 5_000_000n), { ...model("acme/long", 5_000_000n), otherPrices }];
  const text = await (await get("/llms.txt", { "accept-language": "en" })).text();
  const table = text.slice(text.indexOf("| Model | Other prices | Rupiah |")).trim();
  expect(table.split("\n").slice(2)).toEqual([
    "| `acme/long` | Cache write | 6.25 |",
    "| `acme/long` | Per request | 25.5 |",
    "| `acme/long` | Input, input tokens above 200000 | 10 |",
    "| `acme/long` | Cache write, input tokens above 200000 | 12.5 |",
    "| `acme/long` | Output, input tokens above 200000 | 30 |",
  ]);
  models = [model("acme/new", 5_000_000n)];
  expect(await (await get("/llms.txt", { "accept-language": "en" })).text()).not.toContain("Other prices");
});

test("llms.txt is in English, names every page by its address, and describes calls to programs", async () => {
  const answer = await get("/llms.txt", { "accept-language": "id" });
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
  const text = await answer.text();
  for (const page of DOC_PAGES) expect(text).toContain(`](${ORIGIN}/docs/${page}.md?lang=en): `);
  for (const fact of [
    `Base URL for OpenAI's formats: ${ORIGIN}/v1.`,
    "`Authorization: Bearer gw_…`",
    `curl ${ORIGIN}/v1/chat/completions`,
    '"model":"acme/new"',
    "| `acme/new` | 5 | as input | 15 | 131072 |",
    ...["chat/completions", "responses", "messages", "embeddings"].map((path) => `\`POST /v1/${path}\``),
  ])
    expect(text).toContain(fact);
  for (const path of ["/llms.txt", "/docs/errors.md"]) {
    const refused = await fetch(running.http + path, { method: "POST" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET"]);
  }
});

test.each([
  { language: "id", sentence: "**Mulai ulang kliennya**" },
  { language: "en", sentence: "**Restart the client**" },
])("the reader learns to restart a client before any agent's part: $language", async ({ language, sentence }) => {
  const text = await read("clients", language);
  const told = text.indexOf(sentence);
  expect(told).toBeGreaterThan(0);
  for (const { name } of CODING_AGENTS) expect(text.indexOf(`\n## ${name}\n`), name).toBeGreaterThan(told);
});

test("every error a caller can meet is documented with its status", async () => {
  const texts = [await read("errors", "en"), await read("transfers", "en")].join("\n");
  for (const [code, status] of Object.entries(httpStatus)) expect(texts).toContain(`| ${status} | \`${code}\` |`);
});
