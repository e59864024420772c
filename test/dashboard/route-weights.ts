// Which files a browser fetches for each page, and their compressed size, on a first visit. A file of the build names
// the files that it requires; files that a dialog fetches later are not among them.

import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUILT = fileURLToPath(new URL("../../.dashboard/", import.meta.url));
const PAGES = fileURLToPath(new URL("../../src/dashboard/pages/", import.meta.url));
const KB = 1_024;
const ENTRY = /src="\/(assets\/[^"]+\.js)"/;
const IMPORTS = /(?:\bfrom|\bimport)\s*"\.\/([^"]+\.js)"/g;
/** The first page of a visit. */
const FIRST = "overview-page";

export type Weight = { readonly page: string; readonly kilobytes: number; readonly files: number };

/** The entry with the first page, and what each other page adds to the entry, the heaviest first. */
export function weighRoutes(): { readonly first: Weight; readonly others: readonly Weight[] } {
  const entry = entryFiles();
  const frames = globSync("**/*-frame.tsx", { cwd: PAGES });
  const routes = globSync("**/*-page.tsx", { cwd: PAGES }).map((source) => {
    // A page inside a frame cannot be shown without it.
    const around = frames.filter((frame) => source.startsWith(`${dirname(frame)}/`));
    const files = new Set([source, ...around].flatMap((each) => [...withImports(fileOf(each))]));
    return { page: basename(source, ".tsx"), files: [...files].filter((file) => !entry.has(file)) };
  });
  const first = routes.find(({ page }) => page === FIRST);
  return {
    first: weigh(FIRST, [...entry, ...(first?.files ?? [])]),
    others: routes
      .filter(({ page }) => page !== FIRST)
      .map(({ page, files }) => weigh(page, files))
      .toSorted((one, other) => other.kilobytes - one.kilobytes),
  };
}

/** The style sheets, of which every page has all. */
export function weighStyles(): Weight {
  return weigh("style sheets", globSync("assets/*.css", { cwd: BUILT }));
}

/** The files that a page requires, by its name, besides those of every page. */
export function filesOfPage(page: string): string[] {
  const entry = entryFiles();
  return [...withImports(fileOf(`${page}.tsx`))].filter((file) => !entry.has(file));
}

function entryFiles(): Set<string> {
  return withImports(ENTRY.exec(readFileSync(join(BUILT, "index.html"), "utf8"))?.[1] ?? "");
}

/** The built file of a page or frame. */
function fileOf(source: string): string {
  const [file, ...others] = globSync(`assets/${basename(source, ".tsx")}-????????.js`, { cwd: BUILT });
  if (file === undefined || others.length > 0) throw new Error(`${source} is not one file of the build`);
  return file;
}

function withImports(file: string): Set<string> {
  const found = new Set([file]);
  for (const each of found) {
    for (const [, name = ""] of readFileSync(join(BUILT, each), "utf8").matchAll(IMPORTS)) found.add(`assets/${name}`);
  }
  return found;
}

function weigh(page: string, files: readonly string[]): Weight {
  const sizes = files.map((file) => gzipSync(readFileSync(join(BUILT, file))).length / KB);
  return { page, kilobytes: sizes.reduce((total, size) => total + size, 0), files: files.length };
}
