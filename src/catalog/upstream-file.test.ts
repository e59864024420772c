import { expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../kernel/errors.ts";
import { readCatalogFile, writeCatalogFile } from "./catalog-file.ts";
import { takesServiceTier } from "./upstream-file.ts";

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

test.each<[string, string, boolean]>([
  ["openai-compatible", "https://api.openai.com/v1", true],
  ["openai-compatible", "https://api.groq.com/openai/v1", false],
  ["openai-responses", "https://api.example.com/v1", true],
  ["anthropic", "https://api.example.com", true],
  ["gemini", "https://generativelanguage.googleapis.com/v1beta", false],
])("%s at %s takes a service tier: %s, unless the file sets it", (kind, base_url, usual) => {
  const read = (fields: Fields) => readUpstreams({ kind, base_url, ...fields });
  const tiersOf = (fields: Fields) => read(fields).upstreams.map((upstream) => takesServiceTier(upstream));
  expect(tiersOf({})).toEqual([usual]);
  expect(tiersOf({ takes_service_tier: !usual })).toEqual([!usual]);
  expect(read({ takes_service_tier: usual })).toEqual(read({}));
  const contrary = read({ takes_service_tier: !usual });
  expect(readCatalogFile(writeCatalogFile(contrary))).toEqual(contrary);
  expect(writeCatalogFile(read({}))).not.toContain("takes_service_tier");
});

test.each([
  ["idle_timeout_ms", 0, "integer"],
  ["idle_timeout_ms", "1s", "integer"],
  ["allow_private_address", "yes", "flag"],
  ["output_cap_field", "n", "one_of"],
  ["charges_cache_writes", "no", "flag"],
  ["takes_service_tier", 1, "flag"],
])("an upstream whose %s is %o is refused by that field", (field, value, rule) => {
  expect(problemsOf({ [field]: value })).toEqual([`upstreams[0].${field} ${rule}`]);
});
