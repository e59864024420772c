// The documentation for programs: each page of the dashboard's documentation as Markdown, and llms.txt, which lists them. The texts
// are the same as those of the pages. Addresses, an example and the prices are filled in for each request, so that no file has a
// price.

import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { type Language, preferredLanguage } from "../../kernel/preferred-language.ts";
import { priceTables } from "./docs-prices.ts";
import { createLlmsText, exampleOf, type Heading } from "./llms-text.ts";
import { type KnownPaths, PLAIN_PATHS } from "../rest/allowed-methods.ts";

/** The pages in reading order. */
export const DOC_PAGES = [
  "quick-start",
  "authentication",
  "clients",
  "streaming",
  "tools",
  "errors",
  "limits",
  "caching",
  "billing",
  "alerts",
  "transfers",
] as const;
type DocPage = (typeof DOC_PAGES)[number];

/** The folder of the texts: `<page>.<language>.md`. */
export const DOC_TEXTS = new URL("../../docs/pages/", import.meta.url);

export type DocsOptions = {
  readonly catalog: Catalog;
  /** The address of this service for callers, without a slash at its end. */
  readonly baseUrl: () => string;
};

const UNKNOWN_PAGE: Readonly<Record<Language, string>> = {
  id: "Halaman ini tidak ada. Semua halaman tercantum di",
  en: "There is no such page. All pages are listed at",
};

/** For how long a proxy may send llms.txt without another request. */
const LLMS_FRESH_SECONDS = 60;

/** A client that asks for Markdown gets no page of the dashboard, because those are made by scripts. */
const ANY_MARKDOWN = "/docs/:page(^.+\\.md$)";

/** Serves `/docs/<page>.md` and `/llms.txt`. */
export function registerDocs(app: FastifyInstance, paths: KnownPaths, options: DocsOptions): void {
  const headings: Heading[] = [];
  for (const page of DOC_PAGES) {
    const texts = { id: readText(page, "id"), en: readText(page, "en") };
    headings.push(headingOf(page, texts.en));
    const path = `/docs/${page}.md`;
    app.get(path, async (request, reply) =>
      send(reply, "text/markdown", await fill(texts[languageOf(request)], languageOf(request), options)),
    );
    paths.add(path, ["GET"]);
  }
  app.get(ANY_MARKDOWN, (request, reply) => {
    return send(
      reply.code(404),
      "text/plain",
      `${UNKNOWN_PAGE[languageOf(request)]} ${options.baseUrl()}${PLAIN_PATHS.llms}\n`,
    );
  });
  const llmsText = createLlmsText(headings, options.baseUrl);
  app.get(PLAIN_PATHS.llms, async (_request, reply) => {
    const text = llmsText(await options.catalog.snapshot());
    return send(reply, "text/plain", text, `public, max-age=${LLMS_FRESH_SECONDS}`);
  });
}

function send(reply: FastifyReply, type: string, text: string, cache = "no-cache"): FastifyReply {
  const headers = { vary: "accept-language", "cache-control": cache, "x-content-type-options": "nosniff" };
  return reply.headers(headers).type(`${type}; charset=utf-8`).send(text);
}

/** The language of `?lang=`, else the one that a browser prefers. Programs ask for none and get English. */
function languageOf(request: FastifyRequest): Language {
  const { lang } = request.query as { lang?: unknown };
  if (lang === "en" || lang === "id") return lang;
  return preferredLanguage(request.headers["accept-language"], "en");
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

function headingOf(page: DocPage, text: string): Heading {
  const [title = "", about = ""] = text.split("\n\n", 2);
  return { page, title: title.replace("# ", ""), about: about.replaceAll("\n", " ") };
}
