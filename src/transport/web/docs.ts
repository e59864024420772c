// The documentation for programs: each page of the dashboard's documentation as Markdown, and llms.txt, which lists them. The texts
// are the same as those of the pages. Addresses, an example and the prices are filled in for each request, so that no file has a
// price.

import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { type Language, preferredLanguage } from "../../kernel/preferred-language.ts";
import { priceTables } from "./docs-prices.ts";
import { type KnownPaths, PLAIN_PATHS } from "../rest/allowed-methods.ts";

/** The pages in reading order. */
export const DOC_PAGES = ["quick-start", "clients", "errors", "limits", "caching", "billing", "transfers"] as const;
type DocPage = (typeof DOC_PAGES)[number];

/** The folder of the texts: `<page>.<language>.md`. */
export const DOC_TEXTS = new URL("../../docs/pages/", import.meta.url);

export type DocsOptions = {
  readonly catalog: Catalog;
  /** The address of this service for callers, without a slash at its end. */
  readonly baseUrl: () => string;
};

const WORDS = {
  id: {
    about: "Gateway model prabayar dalam rupiah dengan format OpenAI, dan transfer kripto untuk merchant.",
    documents: "Dokumentasi",
    api: "Seluruh REST untuk perkakas",
    prices: "Harga",
    unit: "Rupiah per satu juta token, saat ini.",
    unknown: "Halaman ini tidak ada. Semua halaman tercantum di",
  },
  en: {
    about: "A prepaid model gateway in rupiah with OpenAI's format, and crypto transfers for merchants.",
    documents: "Documentation",
    api: "The whole REST API for tools",
    prices: "Prices",
    unit: "Rupiah per million tokens, as of now.",
    unknown: "There is no such page. All pages are listed at",
  },
} as const;

/** A client that asks for Markdown gets no page of the dashboard, because those are made by scripts. */
const ANY_MARKDOWN = "/docs/:page(^.+\\.md$)";

/** Serves `/docs/<page>.md` and `/llms.txt`. */
export function registerDocs(app: FastifyInstance, paths: KnownPaths, options: DocsOptions): void {
  const headings: Record<Language, Heading[]> = { id: [], en: [] };
  for (const page of DOC_PAGES) {
    const texts = { id: readText(page, "id"), en: readText(page, "en") };
    for (const language of ["id", "en"] as const) headings[language].push(headingOf(page, texts[language]));
    const path = `/docs/${page}.md`;
    app.get(path, async (request, reply) =>
      send(reply, "text/markdown", await fill(texts[languageOf(request)], languageOf(request), options)),
    );
    paths.add(path, ["GET"]);
  }
  app.get(ANY_MARKDOWN, (request, reply) => {
    const { unknown } = WORDS[languageOf(request)];
    return send(reply.code(404), "text/plain", `${unknown} ${options.baseUrl()}${PLAIN_PATHS.llms}\n`);
  });
  app.get(PLAIN_PATHS.llms, async (request, reply) =>
    send(reply, "text/plain", await llmsText(languageOf(request), headings[languageOf(request)], options)),
  );
}

function send(reply: FastifyReply, type: string, text: string): FastifyReply {
  const headers = { vary: "accept-language", "cache-control": "no-cache", "x-content-type-options": "nosniff" };
  return reply.headers(headers).type(`${type}; charset=utf-8`).send(text);
}

/** The language of `?lang=`, else the one that a browser prefers. */
function languageOf(request: FastifyRequest): Language {
  const { lang } = request.query as { lang?: unknown };
  if (lang === "en" || lang === "id") return lang;
  return preferredLanguage(request.headers["accept-language"]);
}

function readText(page: DocPage, language: Language): string {
  return readFileSync(new URL(`${page}.${language}.md`, DOC_TEXTS), "utf8");
}

/** A text with addresses, the example and the prices filled in. Links lead to Markdown where it exists. */
async function fill(text: string, language: Language, { catalog, baseUrl }: DocsOptions): Promise<string> {
  const origin = baseUrl();
  const pages: ReadonlySet<string> = new Set(DOC_PAGES);
  const linked = text.replaceAll(/\]\(\/([^)]*)\)/g, (_link, path: string) => {
    const page = path.startsWith("docs/") ? path.slice("docs/".length) : "";
    return `](${origin}/${path}${pages.has(page) ? `.md?lang=${language}` : ""})`;
  });
  // A text without either is served while the database is away, too.
  const needsModels = linked.includes("{model}") || linked.includes("{models}");
  const models = needsModels ? [...(await catalog.snapshot()).models.values()] : [];
  return linked
    .replaceAll("{origin}", () => origin)
    .replaceAll("{models}", () => priceTables(models, language))
    .replaceAll("{model}", () => exampleOf(models));
}

/** The title of a page, and its first paragraph. */
type Heading = { readonly page: DocPage; readonly title: string; readonly about: string };

function headingOf(page: DocPage, text: string): Heading {
  const [title = "", about = ""] = text.split("\n\n", 2);
  return { page, title: title.replace("# ", ""), about: about.replaceAll("\n", " ") };
}

async function llmsText(
  language: Language,
  headings: readonly Heading[],
  { catalog, baseUrl }: DocsOptions,
): Promise<string> {
  const words = WORDS[language];
  const models = [...(await catalog.snapshot()).models.values()];
  const links = headings.map(
    ({ page, title, about }) => `- [${title}](${baseUrl()}/docs/${page}.md?lang=${language}): ${about}`,
  );
  return [
    "# Saldo",
    `> ${words.about}`,
    `## ${words.documents}`,
    [...links, `- [OpenAPI](${baseUrl()}/openapi.json): ${words.api}`].join("\n"),
    `## ${words.prices}`,
    words.unit,
    priceTables(models, language),
    "",
  ].join("\n\n");
}

/** The chat model that examples name: the cheapest that costs something, else the first. */
function exampleOf(models: readonly CatalogModel[]): string {
  const chatModels = models.filter(({ kind }) => kind === "chat");
  const priced = chatModels.filter(({ inputPrice }) => inputPrice > 0n);
  const [example = chatModels[0]] = priced.toSorted((one, other) => (one.inputPrice < other.inputPrice ? -1 : 1));
  return example?.id ?? "MODEL_ID";
}
