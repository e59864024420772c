// The catalog as an operator writes it: YAML, read whole and judged whole, and written back in the same form.

import { parseDocument, stringify } from "yaml";
import { ValidationError, type FieldProblem } from "../kernel/errors.ts";
import type { UpstreamConfig } from "./catalog-model.ts";
import { FileField } from "./file-field.ts";
import { type FileModel, readModel, writeModel } from "./model-file.ts";
import { readUpstream, writeUpstream } from "./upstream-file.ts";

/** The content of a file. */
export type CatalogFile = { readonly upstreams: readonly UpstreamConfig[]; readonly models: readonly FileModel[] };

const MAX_FILE_LENGTH = 4_000_000;
const MAX_UPSTREAMS = 200;
const MAX_MODELS = 5_000;
const MAX_ALIASES = 100;

/**
 * Reads a catalog file. Routes may name the file's upstreams and the preset ones. Errors: ValidationError with every
 * problem there is.
 */
export function readCatalogFile(yaml: string, presetUpstreams: readonly UpstreamConfig[] = []): CatalogFile {
  const problems: FieldProblem[] = [];
  const root = new FileField("", parseYaml(yaml), problems).mapping(["upstreams", "models"]);
  // A file without models would retire them all: that has to be written as `models: []`.
  if (root?.models.isAbsent === true) root.models.note("required", "must be given");
  const upstreams = readEntries(root?.upstreams.list({ max: MAX_UPSTREAMS }) ?? [], readUpstream);
  // An upstream of the file replaces a preset of its id.
  const upstreamKinds = new Map([...presetUpstreams, ...upstreams].map(({ id, kind }) => [id, kind]));
  const models = readEntries(root?.models.list({ max: MAX_MODELS }) ?? [], (field) => readModel(field, upstreamKinds));
  if (problems.length > 0) throw new ValidationError(problems);
  return { upstreams, models };
}

/** Writes a catalog file that reads as the same. What has its default is left out. */
export function writeCatalogFile({ upstreams, models }: CatalogFile): string {
  return stringify({ upstreams: upstreams.map(writeUpstream), models: models.map(writeModel) }, { lineWidth: 0 });
}

function parseYaml(yaml: string): unknown {
  if (yaml.length > MAX_FILE_LENGTH) throw notYaml(`must be at most ${MAX_FILE_LENGTH} characters long`);
  // Made readable, each of its errors would be searched for its line: that is quadratic in a file that is one long line.
  const document = parseDocument(yaml, { prettyErrors: false });
  const [wrong] = document.errors;
  if (wrong !== undefined) throw notYaml(`must be YAML: ${wrong.message} ${placeOf(yaml, Math.max(0, wrong.pos[0]))}`);
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw error instanceof ReferenceError ? notYaml("must not use so many aliases") : error;
  }
}

/** A place in a text, as editors number it. */
function placeOf(text: string, index: number): string {
  const before = text.slice(0, index).split("\n");
  return `at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

function notYaml(message: string): ValidationError {
  return new ValidationError([{ field: "", rule: "yaml", message }]);
}

/** Reads the entries of a list, whose ids must differ. An entry that is no mapping is noted and left out. */
function readEntries<Entry extends { readonly id: string }>(
  fields: readonly FileField[],
  read: (field: FileField) => Entry | null,
): Entry[] {
  const seen = new Set<string>();
  return fields.flatMap((field) => {
    const entry = read(field);
    if (entry === null) return [];
    if (entry.id !== "" && seen.has(entry.id)) field.note("id.unique", "must have an id that no other entry has");
    seen.add(entry.id);
    return [entry];
  });
}
