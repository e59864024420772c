import { readFile, writeFile } from "node:fs/promises";
import { presetCatalog } from "../app-catalog.ts";
import { exportCatalog, previewCatalog, type CatalogChange } from "../catalog/apply-catalog.ts";
import { orderCatalog } from "../operator/catalog-orders.ts";
import { type Command, UsageError } from "./command.ts";
import { orderedHere } from "./operator.ts";

export const catalogCommands: readonly Command[] = [
  {
    name: "catalog apply",
    about: "Makes the catalog what a YAML file says and shows what changes; what the file leaves out is retired.",
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
      const order = { ...draft, reason: values.get("reason") ?? null };
      const { version, changes: changed } = isDry
        ? await previewCatalog(await database(), draft)
        : await orderCatalog(await orderedHere(database), order);
      return { json: { version, changed }, text: changed.map(toText).join("\n") || "Nothing changes." };
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
    lines.push(
      `  price: input ${priceDifference.input}, output ${priceDifference.output}, cache hit ${priceDifference.cacheHit}`,
    );
  }
  return lines.join("\n");
}
