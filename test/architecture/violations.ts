// Reads the sources of the house and reports where they break its plan. It works on texts, so that it can be tried on a
// house that does not exist.

import { posix } from "node:path";
import {
  emptyNames,
  environmentReaders,
  LONG_LINES,
  MAX_LINES,
  mayImport,
  mayImportContracts,
  packageLoaders,
  tiers,
  translatingFile,
  wireFiles,
  wireRooms,
} from "./import-table.ts";
import { importsOf, loadsOf } from "./source-imports.ts";

/** A file by its path from the root of the repository, with forward slashes. */
export type SourceFile = { readonly path: string; readonly text: string };

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;

/** Every sentence about a file or room that breaks the plan; none: the house is as drawn. */
export function findViolations(files: readonly SourceFile[]): string[] {
  const sources = files.filter((file) => file.path.startsWith("src/"));
  const code = sources.filter(isCode);
  return [
    ...code.flatMap(arrowViolations),
    ...code.flatMap(fileViolations),
    ...code.flatMap(wireViolations),
    ...roomViolations(sources),
    ...cycleViolations(code),
    ...circleViolations(code),
    ...roomCircleViolations(code),
  ];
}

export function isCode({ path }: SourceFile): boolean {
  return /\.(tsx?|js)$/.test(path);
}

/** Every sentence about the tables that contradict each other: an arrow that goes up, a room without a tier. */
export function tableViolations(table: typeof mayImport = mayImport): string[] {
  const order = Object.values(tiers);
  const tierOf = (room: string): number => order.findIndex((rooms) => rooms.includes(room));
  return Object.entries(table).flatMap(([room, allowed]) => {
    if (tierOf(room) === -1) return [`${room} stands in no tier`];
    return allowed.flatMap((target) => {
      const targetRoom = roomOf(`src/${target}/`);
      return tierOf(targetRoom) < tierOf(room) ? [`${room} may not import ${target}, which is in a higher tier`] : [];
    });
  });
}

/** The room of a path: the longest folder that the table names, else the first folder, or the file that lies directly in `src/`. */
function roomOf(path: string): string {
  const parts = path.split("/").slice(1);
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const folder = parts.slice(0, length).join("/");
    if (Object.hasOwn(mayImport, folder)) return folder;
  }
  return parts[0] ?? "";
}

/** A test beside `service.ts` obeys the rules of `service.ts`. */
function subjectOf(path: string): string {
  return path.replace(/\.test\.ts$/, ".ts");
}

function arrowViolations(file: SourceFile): string[] {
  const room = roomOf(file.path);
  const isTest = file.path.endsWith(".test.ts");
  const imports = importsOf(file.text).flatMap(({ specifier }) => {
    if (specifier.startsWith("#gen/") || /(^|\/)gen\//.test(specifier)) {
      const allowed = mayImportContracts.includes(room) || translatingFile.test(posix.basename(subjectOf(file.path)));
      return allowed
        ? []
        : [`${file.path} imports the contracts ${specifier}; only …service.ts, proto-….ts and transport/ do`];
    }
    if (!specifier.startsWith(".")) return [];
    const target = posix.join(posix.dirname(file.path), specifier);
    if (isTest && target.startsWith("test/setup/")) return [];
    if (!target.startsWith("src/")) return [`${file.path} imports ${target}, which lies outside src`];
    return mayReach(room, target) ? [] : [`${file.path} imports ${target}: ${room} may not import ${roomOf(target)}`];
  });
  const { reads, unknown } = loadsOf(file.text);
  const wrong = reads
    .map((path) => posix.join(posix.dirname(file.path), path))
    .filter((target) => target.startsWith("src/") && !mayReach(room, target));
  return [
    ...imports,
    ...wrong.map((target) => `${file.path} reads ${target}: ${room} may not read ${roomOf(target)}`),
    ...(packageLoaders.includes(file.path) ? [] : unknown).map((code) => `${file.path} loads or reads by ${code}`),
  ];
}

function mayReach(room: string, target: string): boolean {
  const targetRoom = roomOf(target);
  const allowed = mayImport[room] ?? [];
  return targetRoom === room || allowed.some((each) => target === `src/${each}` || targetRoom === each);
}

function fileViolations({ path, text }: SourceFile): string[] {
  const found = lengthViolations({ path, text });
  const name = posix.basename(path).replace(/(\.test)?\.(tsx?|js)$/, "");
  if (emptyNames.includes(name)) found.push(`${path}: the name ${name} says nothing about what is inside`);
  if (!KEBAB_CASE.test(name)) found.push(`${path}: a file name is in kebab-case`);
  if (/\bFIXME\b/.test(text)) found.push(`${path} has an open FIXME`);
  if (loadsOf(text).readsEnvironment && !environmentReaders.includes(path)) {
    found.push(`${path} reads process.env; only ${environmentReaders.join(" and ")} does`);
  }
  return found;
}

/** The adapters of one kind of upstream. */
const ADAPTER = /^src\/gateway\/upstreams\/[^/]+\//;
/** Text of server-sent events, bodies of errors, HTTP statuses, cookies and pages. Round numbers are statuses only beside that word. */
const WIRE = [
  /["'`](?:(?:data|event|id|retry): |:[^"'`]*\\n)|\[DONE\]|text\/event-stream/,
  /["'`](?:invalid_request_error|server_error|insufficient_quota|rate_limit_error)["'`]/,
  /\bwriteHead\b|\bstatusCode\b|\b(?:40[1-9]|41[0-9]|42[0-9]|50[1-4]|524|529)\b/,
  /\bstatus\w*\W{1,6}[1-5]\d\d\b/i,
  /["'`]set-cookie["'`]|text\/html|\bdoctype html\b/i,
];

/** Rooms hand typed events and errors to the transports, which put them into the protocols of their callers. */
function wireViolations({ path, text }: SourceFile): string[] {
  const isTransport = path.startsWith("src/transport/");
  if (isTransport || /^src\/gateway\/[^/]+$/.test(path)) {
    const reads = importsOf(text).some(({ specifier }) => specifier.endsWith("/stream/sse.ts"));
    if (reads) return [`${path} reads events back that an upstream or another transport has written`];
  }
  const isWireRoom = wireRooms.includes(roomOf(path).split("/")[0] ?? "");
  if (isWireRoom || path.endsWith(".test.ts") || Object.hasOwn(wireFiles, path) || ADAPTER.test(path)) return [];
  const found = WIRE.flatMap((wire) => wire.exec(text.replaceAll(COMMENTS, ""))?.[0] ?? []);
  return found.map((wire) => `${path} has ${wire}, which only transport/ and adapters of upstreams write or read`);
}

/** Holds for the tests as well as for the sources. */
export function lengthViolations({ path, text }: SourceFile): string[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  return lines > MAX_LINES ? [`${path} has ${lines} lines; above ${MAX_LINES} it has a second subject`] : [];
}

/** Files above the length of a hint, with their lengths. */
export function longFiles(sources: readonly SourceFile[]): string[] {
  return sources
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0) }))
    .filter(({ lines }) => lines > LONG_LINES)
    .map(({ path, lines }) => `${path} (${lines} lines)`);
}

/** A room is drawn, and it or the folder around it has a README. Nothing but the entry lies directly in `src/`. */
function roomViolations(sources: readonly SourceFile[]): string[] {
  const paths = new Set(sources.map(({ path }) => path));
  const loose = [...paths].filter((path) => path.split("/").length === 2 && path !== "src/main.js");
  const rooms = new Set([...paths].filter((path) => path.split("/").length > 2).map(roomOf));
  const folders = new Set([...rooms].flatMap((room) => [room, room.split("/")[0] ?? ""]));
  return [
    ...loose.map((path) => `${path} lies directly in src, where only main.js may`),
    ...[...folders].flatMap((room) => {
      const inside = Object.keys(mayImport).some((each) => each === room || each.startsWith(`${room}/`));
      const found = inside ? [] : [`src/${room} does not stand in the import table`];
      const isPart = /^(app|operator)\//.test(room);
      if (!isPart && !paths.has(`src/${room}/README.md`)) found.push(`src/${room} has no README.md`);
      // A file beside the rooms of a folder that is none itself would obey no rule.
      if (inside && !Object.hasOwn(mayImport, room)) {
        const strays = [...paths].filter((path) => roomOf(path) === room && !path.endsWith(".md"));
        found.push(...strays.map((path) => `${path} lies beside the rooms of src/${room} and in none`));
      }
      return found;
    }),
  ];
}

/** Files that need each other to load. */
function cycleViolations(code: readonly SourceFile[]): string[] {
  const targets = new Map(code.map((file) => [file.path, targetsOf(file, { withTypes: false })]));
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

function targetsOf(file: SourceFile, { withTypes }: { withTypes: boolean }): Set<string> {
  return new Set(
    importsOf(file.text)
      .filter(({ specifier, typeOnly }) => (withTypes || !typeOnly) && specifier.startsWith("."))
      .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier)),
  );
}

/** Files that need each other to be understood: types count. */
function circleViolations(code: readonly SourceFile[]): string[] {
  const loading = groupsOf(new Map(code.map((file) => [file.path, targetsOf(file, { withTypes: false })])));
  const graph = new Map(code.map((file) => [file.path, targetsOf(file, { withTypes: true })]));
  return groupsOf(graph)
    .filter((group) => !loading.includes(group))
    .map((group) => `circle of types: ${group}`);
}

/** Rooms that need each other; types count here too. */
function roomCircleViolations(code: readonly SourceFile[]): string[] {
  const graph = new Map<string, Set<string>>();
  for (const file of code.filter(({ path }) => !path.endsWith(".test.ts"))) {
    const room = roomOf(file.path);
    const targets = graph.get(room) ?? new Set<string>();
    for (const target of targetsOf(file, { withTypes: true })) if (roomOf(target) !== room) targets.add(roomOf(target));
    graph.set(room, targets);
  }
  return groupsOf(graph).map((group) => `rooms that need each other: ${group}`);
}

/** The members of each circle of a graph, sorted, as one text: nodes that reach each other. */
function groupsOf(graph: Graph): string[] {
  const reach = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]));
  const groups = [...reach].flatMap(([node, reached]) => {
    if (!reached.has(node)) return [];
    return [
      [...reached]
        .filter((other) => reach.get(other)?.has(node) === true)
        .toSorted()
        .join(", "),
    ];
  });
  return [...new Set(groups)];
}

function reachableFrom(graph: Graph, start: string): Set<string> {
  const reached = new Set<string>();
  const queue = [...(graph.get(start) ?? [])];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    queue.push(...(graph.get(node) ?? []));
  }
  return reached;
}
