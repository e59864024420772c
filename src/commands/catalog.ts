import { readFile, writeFile } from "node:fs/promises";
import { presetCatalog } from "../app/compose/catalog.ts";
import {
  type CatalogChange,
  type CatalogWarning,
  exportCatalog,
  type PriceDifference,
  previewCatalog,
} from "../catalog/apply-catalog.ts";
import { OTHER_KINDS, OTHER_NAMES } from "../catalog/price-file.ts";
import { publishCatalog } from "../operator/commands/catalog.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const catalogCommands: readonly Command[] = [
  {
    name: "catalog apply",
    about: "Replaces the catalog by a YAML file and shows the changes; models that the file omits are retired.",
    options: {
      "dry-run": { required: false, value: "yes", about: "only show what would change" },
      reason: { required: false, value: "R", about: "why, for the history" },
    },
    positionals: ["FILE"],
    async run(values, { config, database }) {
      const [file = ""] = values.positionals;
      const yaml = await readFile(file, "utf8").catch((error: Error) => {
        throw new UsageError(`${file} cannot be read: ${error.message}`);
      });
      const draft = { yaml, ...presetCatalog(config) };
      const isDry = values.get("dry-run") !== undefined;
      const publication = { ...draft, reason: values.get("reason") ?? null };
      const { version, changes, warnings } = isDry
        ? await previewCatalog(await database(), draft)
        : await publishCatalog(await operatorHere(database), publication);
      const lines = changes.length === 0 ? ["Nothing changes."] : changes.map(toText);
      const text = [...lines, ...warnings.map(toWarningText)].join("\n");
      return { json: { version, changed: changes, warnings }, text };
    },
  },
  {
    name: "catalog export",
    about: "Writes the catalog as YAML that can be applied again; - writes to standard output.",
    options: {},
    positionals: ["FILE"],
    async run(values, { config, database }) {
      const [file = ""] = values.positionals;
      const yaml = await exportCatalog(await database(), presetCatalog(config));
      if (file === "-") return { json: { yaml }, text: yaml.trimEnd() };
      await writeFile(file, yaml);
      return { json: { file }, text: `Written to ${file}.` };
    },
  },
];

function toText({ kind, id, change, fields, priceDifference }: CatalogChange): string {
  const lines = [`${change} ${kind} ${id}`];
  for (const { field, before, after } of fields) {
    lines.push(`  ${field}: ${JSON.stringify(before ?? null)} -> ${JSON.stringify(after ?? null)}`);
  }
  if (priceDifference !== undefined && priceDifference !== null) {
    const { longContext = [] } = priceDifference;
    lines.push(`  price: ${toMovesText(priceDifference)}`);
    for (const tier of longContext) lines.push(`  price above ${tier.above} tokens of input: ${toMovesText(tier)}`);
  }
  return lines.join("\n");
}

/** How far each price moves, the less common ones where there are any. */
function toMovesText(moved: Omit<PriceDifference, "longContext">): string {
  const others = OTHER_KINDS.filter((kind) => moved[kind] !== undefined);
  return [
    `input ${moved.input}, output ${moved.output}, cache hit ${moved.cacheHit}`,
    ...others.map((kind) => `${OTHER_NAMES[kind].replaceAll("_", " ")} ${moved[kind]}`),
  ].join(", ");
}

function toWarningText(warning: CatalogWarning): string {
  const place = `warning: ${warning.model}, routes[${warning.route}] to ${warning.upstream}:`;
  if (warning.reason === "cost_exceeds_price") {
    const { price, cost, sold, above } = warning;
    return `${place} ${price} costs ${cost} and is sold for ${sold}${above === 0 ? "" : ` above ${above} tokens of input`}`;
  }
  return warning.reason === "cost_without_cache_write"
    ? `${place} the upstream charges for cache writes, and cost has no cache_write`
    : `${place} the upstream charges for cache writes, and price has no cache_write: they are sold as input`;
}
