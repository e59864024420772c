// Reads the sources of the house and says where they break its plan. It works on texts, so that it can be tried on a
// house that does not exist.

import { posix } from "node:path";
import {
  emptyNames,
  environmentReaders,
  MAX_LINES,
  mayImport,
  mayImportContracts,
  translatingFile,
} from "./import-table.ts";

/** A file by its path from the root of the repository, with forward slashes. */
export type SourceFile = { readonly path: string; readonly text: string };

type Import = { readonly specifier: string; readonly typeOnly: boolean };

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm;
const STATIC_IMPORT = /\b(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']/g;
const DYNAMIC_IMPORT = /\bimport\s*\(\s*["'`]([^"'`\n]+)["'`]/g;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;

/** Every sentence about a file or room that breaks the plan; none: the house stands as drawn. */
export function findViolations(files: readonly SourceFile[]): string[] {
  const sources = files.filter((file) => file.path.startsWith("src/"));
  const code = sources.filter((file) => /\.(tsx?|js)$/.test(file.path));
  return [
    ...code.flatMap(arrowViolations),
    ...code.flatMap(fileViolations),
    ...roomViolations(sources),
    ...cycleViolations(code),
  ];
}

/** The imports of a text, those in comments left out. */
export function importsOf(text: string): Import[] {
  const code = text.replaceAll(COMMENTS, "");
  const found: Import[] = [];
  for (const [, type, specifier = ""] of code.matchAll(STATIC_IMPORT))
    found.push({ specifier, typeOnly: type !== undefined });
  for (const [, specifier = ""] of code.matchAll(DYNAMIC_IMPORT)) found.push({ specifier, typeOnly: false });
  return found;
}

/** The room of a path, or the file's name when it lies directly in `src/`; the parts of app.ts and config.ts count as these. */
function roomOf(path: string): string {
  return (path.split("/")[1] ?? "").replace(/^(app|config)-[a-z-]+\.ts$/, "$1.ts");
}

/** A test beside `config.ts` obeys the rules of `config.ts`. */
function subjectOf(path: string): string {
  return path.replace(/\.test\.ts$/, ".ts");
}

function arrowViolations(file: SourceFile): string[] {
  const room = roomOf(subjectOf(file.path));
  const isTest = file.path.endsWith(".test.ts");
  return importsOf(file.text).flatMap(({ specifier }) => {
    if (specifier.startsWith("#gen/") || /(^|\/)gen\//.test(specifier)) {
      const allowed = mayImportContracts.includes(room) || translatingFile.test(posix.basename(subjectOf(file.path)));
      return allowed
        ? []
        : [`${file.path} imports the contracts ${specifier}; only service.ts, proto-….ts, rpc and facade do`];
    }
    if (!specifier.startsWith(".")) return [];
    const target = posix.join(posix.dirname(file.path), specifier);
    if (isTest && target.startsWith("test/setup/")) return [];
    if (!target.startsWith("src/")) return [`${file.path} imports ${target}, which lies outside src`];
    const targetRoom = roomOf(target);
    if (targetRoom === room || mayImport[room]?.some((allowed) => covers(allowed, target))) return [];
    return [`${file.path} imports ${target}: ${room} may not import ${targetRoom}`];
  });
}

function covers(allowed: string, target: string): boolean {
  return target === `src/${allowed}` || roomOf(target) === allowed;
}

function fileViolations({ path, text }: SourceFile): string[] {
  const found = lengthViolations({ path, text });
  const name = posix.basename(path).replace(/(\.test)?\.(tsx?|js)$/, "");
  if (emptyNames.includes(name)) found.push(`${path}: the name ${name} says nothing about what is inside`);
  if (!KEBAB_CASE.test(name)) found.push(`${path}: a file name is in kebab-case`);
  if (/\bFIXME\b/.test(text)) found.push(`${path} has an open FIXME`);
  if (/\bprocess\s*\.\s*env\b/.test(text.replaceAll(COMMENTS, "")) && !environmentReaders.includes(path)) {
    found.push(`${path} reads process.env; only ${environmentReaders.join(" and ")} does`);
  }
  return found;
}

/** Holds for the tests as well as for the sources. */
export function lengthViolations({ path, text }: SourceFile): string[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return lines > MAX_LINES ? [`${path} has ${lines} lines; at ${MAX_LINES} look for its second subject`] : [];
}

function roomViolations(sources: readonly SourceFile[]): string[] {
  const rooms = new Set(sources.map(({ path }) => roomOf(subjectOf(path))));
  return [...rooms].flatMap((room) => {
    const found = Object.hasOwn(mayImport, room) ? [] : [`src/${room} does not stand in the import table`];
    const isFile = room.includes(".");
    if (!isFile && !sources.some(({ path }) => path === `src/${room}/README.md`)) {
      found.push(`src/${room} has no README.md`);
    }
    return found;
  });
}

/** Files that need each other to load. Types may point both ways: they are gone at run time. */
function cycleViolations(code: readonly SourceFile[]): string[] {
  const targets = new Map(code.map((file) => [file.path, valueTargets(file)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) found.push(`import cycle: ${[...trail.slice(start), path].join(" → ")}`);
    if (start !== -1 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return found;
}

function valueTargets(file: SourceFile): string[] {
  return importsOf(file.text)
    .filter(({ specifier, typeOnly }) => !typeOnly && specifier.startsWith("."))
    .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier));
}
