import { expect, it } from "vitest";
import { preferredLanguage } from "./preferred-language.ts";

it.each([
  [undefined, "id"],
  ["", "id"],
  ["*", "id"],
  ["fr-FR,fr;q=0.9", "en"],
  ["de, *;q=0.5", "en"],
  ["fr, id;q=0.1", "id"],
  ["en", "en"],
  ["EN-gb, en;q=0.9", "en"],
  ["id,en;q=0.8", "id"],
  ["id;q=0.5,en;q=0.8", "en"],
  ["fr, en;q=0.1", "en"],
  ["en;q=0", "id"],
  ["en;q=x,;,=", "en"],
])("%j prefers %s", (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});

it.each([undefined, "", "*"])("%j prefers none, and is given the language of its place", (header) => {
  expect(preferredLanguage(header, "en")).toBe("en");
});

it("reads a header that is as long as a request may have in little time", () => {
  const startedAt = performance.now();
  for (const part of ["en-", "en;", " ,", "en;q=0.1,", "-;"]) preferredLanguage(part.repeat(16_384 / part.length));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
