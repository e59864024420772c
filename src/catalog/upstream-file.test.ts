import { expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../kernel/errors.ts";
import { readCatalogFile, writeCatalogFile } from "./catalog-file.ts";

type Fields = Record<string, unknown>;
const readUpstreams = (fields: Fields) =>
  readCatalogFile(
    stringify({ upstreams: [{ id: "local", base_url: "https://api.example.com/v1", ...fields }], models: [] }),
  );

function problemsOf(fields: Fields): string[] {
  try {
    readUpstreams(fields);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field, rule }) => `${field} ${rule}`);
  }
}

test.each([
  ["https://api.openai.com/v1", {}, { outputCapField: "max_completion_tokens", chargesCacheWrites: true }],
  ["https://api.x.ai/v1", {}, { outputCapField: "max_completion_tokens" }],
  ["https://openrouter.ai/api/v1", {}, { chargesCacheWrites: true }],
  ["https://api.example.com/v1", {}, {}],
  ["https://api.openai.com/v1", { output_cap_field: "max_tokens", charges_cache_writes: false }, {}],
  [
    "https://api.example.com/v1",
    { output_cap_field: "max_completion_tokens", charges_cache_writes: true },
    { outputCapField: "max_completion_tokens", chargesCacheWrites: true },
  ],
])("%s reads and charges for what is known of it, unless the file sets it: %o", (base_url, fields, expected) => {
  const file = readUpstreams({ base_url, ...fields });
  const { outputCapField, chargesCacheWrites } = file.upstreams[0] ?? {};
  expect({ outputCapField, chargesCacheWrites }).toEqual(expected);
  const written = writeCatalogFile(file);
  expect(readCatalogFile(written)).toEqual(file);
  for (const name of ["output_cap_field", "charges_cache_writes"]) {
    expect(written.includes(name)).toBe(Object.keys(fields).includes(name));
  }
});

test.each([
  ["idle_timeout_ms", 0, "integer"],
  ["idle_timeout_ms", "1s", "integer"],
  ["allow_private_address", "yes", "flag"],
  ["output_cap_field", "n", "one_of"],
  ["charges_cache_writes", "no", "flag"],
])("an upstream whose %s is %o is refused by that field", (field, value, rule) => {
  expect(problemsOf({ [field]: value })).toEqual([`upstreams[0].${field} ${rule}`]);
});
