// Changes of a configuration, without its syntax: the same edits serve JSON, YAML and TOML. They are also
// carried out here on plain values, which is what an edited text is held against.

/** The values of a configuration file. */
export type Value = string | number | boolean | null | readonly Value[] | ValueMap;
/** An object, a mapping or a table. */
export type ValueMap = { readonly [key: string]: Value };
/** The place of a value: keys of maps and indexes of lists, from the root. */
export type Path = readonly (string | number)[];

/** One change. Maps on the way to a place that is set are made where they are missing. */
export type Edit =
  | { readonly kind: "set"; readonly path: Path; readonly value: Value }
  | { readonly kind: "remove"; readonly path: Path }
  /** Puts a value into the list at `path`, at `index`; the list has to be there. */
  | { readonly kind: "insert"; readonly path: Path; readonly index: number; readonly value: Value };

/** A file cannot be edited without harm to it. The message completes "… was left as it is: it". */
export class UneditableFile extends Error {}

/** Whether a value is a map. */
export function isMap(value: Value | undefined): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list. */
export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** The value at a path; undefined where there is none. */
export function valueAt(root: Value, path: Path): Value | undefined {
  let value: Value | undefined = root;
  for (const step of path) {
    if (isList(value)) value = typeof step === "number" ? value[step] : undefined;
    else if (isMap(value)) value = Object.hasOwn(value, step) ? value[String(step)] : undefined;
    else return undefined;
  }
  return value;
}

/** Whether two values are equal; the order of a map's keys does not count. */
export function isSame(one: Value | undefined, other: Value | undefined): boolean {
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (!isMap(one) || !isMap(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

/** The value with an edit carried out. Errors: UneditableFile, when another value is where a map or list should be. */
export function withEdit(root: Value, edit: Edit): Value {
  if (edit.kind === "insert") {
    const list = valueAt(root, edit.path);
    if (!isList(list)) throw wrongShape(edit.path, "a list");
    return withValue(root, { path: edit.path, value: list.toSpliced(edit.index, 0, edit.value) });
  }
  return withValue(root, { path: edit.path, value: edit.kind === "set" ? edit.value : undefined });
}

/** The error for another value in the place of a map or a list. */
export function wrongShape(path: Path, expected: string): UneditableFile {
  return new UneditableFile(`has something else than ${expected} at ${path.join(".") || "its root"}`);
}

function withValue(root: Value | undefined, place: { path: Path; value: Value | undefined }, depth = 0): Value {
  const step = place.path[depth];
  if (step === undefined) return place.value ?? null;
  const isLast = depth === place.path.length - 1;
  if (typeof step === "number") {
    if (!isList(root)) throw wrongShape(place.path.slice(0, depth), "a list");
    if (isLast && place.value === undefined) return root.toSpliced(step, 1);
    return root.with(step, withValue(root[step], place, depth + 1));
  }
  if (root !== undefined && !isMap(root)) throw wrongShape(place.path.slice(0, depth), "a map");
  const entries = new Map(Object.entries(root ?? {}));
  if (!isLast || place.value !== undefined) entries.set(step, withValue(entries.get(step), place, depth + 1));
  else entries.delete(step);
  return Object.fromEntries(entries);
}
