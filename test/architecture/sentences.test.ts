import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { longSentences } from "./sentences.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const INTERFACES = [
  "proto/saldo/**/*.proto",
  ".env.example",
  "README.md",
  ".github/{CLIENTS,OPERATING,TRANSFERS}.md",
  "src/docs/pages/*.md",
  "src/**/*.{ts,tsx}",
];

it("no sentence of an interface has more than 25 words", () => {
  const paths = globSync(INTERFACES, { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  expect(paths.length).toBeGreaterThan(300);
  const long = paths.flatMap((path) => longSentences({ path, text: readFileSync(join(root, path), "utf8") }));
  expect(long.map(({ path, text, words }) => `${path}: ${words} words: ${text}`)).toEqual([]);
});

const LONG = `${"word ".repeat(25)}word.`;
const SHORT = `${"word ".repeat(24)}word.`;

it.each([
  [
    "proto/saldo/keys/v1/key.proto",
    (text: string) => `  // ${text.replace("word word", "word\n  // word")}\n  string id = 1;`,
  ],
  [".env.example", (text: string) => `# ${text}\nSALDO_X=`],
  ["src/docs/pages/errors.en.md", (text: string) => `# Title\n\n- ${text}`],
  ["src/docs/pages/errors.id.md", (text: string) => `| a | ${text} |`],
  ["src/keys/keys.ts", (text: string) => `throw new NotFound("${text}");`],
  [
    "src/dashboard/pages/keys/keys-messages.ts",
    (text: string) => `const about = { en: { about: "Yes. ${text} No." } };`,
  ],
])("a long sentence is found in %s, and one of 25 words is not", (path, write) => {
  expect(longSentences({ path, text: write(LONG) })).toHaveLength(1);
  expect(longSentences({ path, text: write(SHORT) })).toEqual([]);
});

it("names in code, queries and listings are no words of a sentence", () => {
  const code = "`a b c d e f g h i j k l m n o p q r s t u v w x y z`";
  expect(longSentences({ path: "README.md", text: `Run ${code}.\n\n\`\`\`sh\n${LONG}\n\`\`\`` })).toEqual([]);
  expect(longSentences({ path: "src/keys/store.ts", text: `const Q = \`SELECT ${LONG}\`;` })).toEqual([]);
});
