// `npm run pack-agents -- FOLDER`: writes the package saldo-agents as `npm pack FOLDER` and `npm publish FOLDER` take it.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { publishedFiles } from "../src/agents/package.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("npm run pack-agents -- FOLDER: the folder that the package is written into");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
for (const { name, mode, bytes } of await publishedFiles()) {
  writeFileSync(join(folder, name), bytes);
  chmodSync(join(folder, name), mode);
}
console.log(`npm publish ${folder}`);
