import { readFileSync } from "node:fs";

/** The catalog of the demo as YAML, in the form `catalog apply` takes. */
export const demoCatalog: string = readFileSync(new URL("catalog.yaml", import.meta.url), "utf8");
