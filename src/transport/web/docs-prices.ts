// The prices of the catalog as Markdown tables, for the documentation and for llms.txt.

import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { pricesOf, showPrices } from "../../catalog/prices.ts";

const WORDS = {
  id: {
    columns: ["Model", "Input", "Cache", "Output", "Konteks"],
    same: "seperti input",
    others: ["Model", "Harga lain", "Rupiah"],
    above: (tokens: number) => `token input di atas ${tokens}`,
    kinds: {
      input: "Input",
      output: "Output",
      cacheHit: "Cache",
      cacheWrite: "Tulis cache",
      cacheWrite1h: "Tulis cache 1 jam",
      audioInput: "Audio input",
      imageInput: "Gambar input",
      imageOutput: "Gambar output",
      perRequest: "Per permintaan",
    },
  },
  en: {
    columns: ["Model", "Input", "Cache", "Output", "Context"],
    same: "as input",
    others: ["Model", "Other prices", "Rupiah"],
    above: (tokens: number) => `input tokens above ${tokens}`,
    kinds: {
      input: "Input",
      output: "Output",
      cacheHit: "Cache",
      cacheWrite: "Cache write",
      cacheWrite1h: "Cache write, 1 hour",
      audioInput: "Audio input",
      imageInput: "Image input",
      imageOutput: "Image output",
      perRequest: "Per request",
    },
  },
} as const;

type Kind = keyof (typeof WORDS)["en"]["kinds"];
const OTHER_KINDS = [
  "cacheWrite",
  "cacheWrite1h",
  "audioInput",
  "imageInput",
  "imageOutput",
  "perRequest",
] as const satisfies readonly Kind[];
const TIER_KINDS = ["input", "cacheHit", "cacheWrite", "cacheWrite1h", "output"] as const satisfies readonly Kind[];

/** The prices of all models; those that few models have are in a table of their own, where there are any. */
export function priceTables(models: readonly CatalogModel[], language: "id" | "en"): string {
  const { columns, same, others } = WORDS[language];
  const rows = models.map((model) => {
    const { input, output, cacheHit = same } = showPrices(pricesOf(model));
    return [nameOf(model), input, cacheHit, output, String(model.contextLength)];
  });
  const otherRows = models.flatMap((model) => otherPrices(model, language));
  const tables = [table(columns, rows), ...(otherRows.length === 0 ? [] : [table(others, otherRows)])];
  return tables.join("\n\n");
}

function otherPrices(model: CatalogModel, language: "id" | "en"): string[][] {
  const { kinds, above } = WORDS[language];
  const shown = showPrices(pricesOf(model));
  const ofKinds = OTHER_KINDS.map((kind) => [kinds[kind], shown[kind]]);
  const ofTiers = shown.longContext.flatMap((tier) =>
    TIER_KINDS.map((kind) => [`${kinds[kind]}, ${above(tier.above)}`, tier[kind]]),
  );
  return [...ofKinds, ...ofTiers].flatMap(([name = "", price]) =>
    price === undefined ? [] : [[nameOf(model), name, price]],
  );
}

function nameOf({ id }: CatalogModel): string {
  return `\`${id.replaceAll(/[`|\s]/g, "")}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_column, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
