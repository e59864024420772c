// From what an agent wants in a file to the edits that bring it there, and back. Nothing here touches a disk.

import type { AgentFile, Connection, IsOurs, Placement } from "./agent.ts";
import {
  type Edit,
  isList,
  isMap,
  isSame,
  type Path,
  type Value,
  valueAt,
  type ValueMap,
  withEdit,
} from "./editing/edits.ts";
import type { FileRecord } from "./files/record.ts";

/** What is remembered of the settings of a file. */
export type Remembered = Pick<FileRecord, "replaced" | "made">;

/** The edits that point a file at a gateway, and what has to be remembered to take them back. */
export function editsToApply(
  root: ValueMap,
  placements: readonly Placement[],
  before: Remembered,
): { edits: readonly Edit[]; remembered: Remembered } {
  const edits: Edit[] = [];
  let current: Value = root;
  for (const placement of placements) {
    for (const edit of editsOf(current, placement)) {
      current = withEdit(current, edit);
      edits.push(edit);
    }
  }
  return { edits, remembered: remember(root, { placements, edits, before }) };
}

/** Whether a file holds anything of ours. */
export function holdsOurs(root: ValueMap, placements: readonly Placement[]): boolean {
  return placements.some((placement) => {
    const value = valueAt(root, placement.path);
    if (placement.kind === "setting") return value !== undefined && placement.isOurs(value, root);
    return oursIn(value, placement).length > 0;
  });
}

/** The edits that take all of ours out of a file and give back what it replaced. Without a memory, only the first. */
export function editsToRemove(root: ValueMap, placements: readonly Placement[], memory: Remembered | null): Edit[] {
  const edits = placements.flatMap((placement): Edit[] => {
    if (placement.kind !== "setting") return removalsOf(valueAt(root, placement.path), placement);
    const { path } = placement;
    const value = valueAt(root, path);
    if (value === undefined || !placement.isOurs(value, root)) return [];
    const replaced = memory?.replaced.find((each) => isSame(each.path, path));
    // A setting that had our value before we came is the user's.
    if (memory !== null && replaced === undefined) return [];
    return [replaced?.value === undefined ? { kind: "remove", path } : { kind: "set", path, value: replaced.value }];
  });
  return [...edits, ...emptied(edits.reduce<Value>(withEdit, root), memory?.made ?? [])];
}

function editsOf(root: Value, placement: Placement): Edit[] {
  const { path, value } = placement;
  const current = valueAt(root, path);
  if (placement.kind === "setting") {
    const isThere = isSame(current, value) || (current !== undefined && placement.isEnough?.(current) === true);
    return isThere ? [] : [{ kind: "set", path, value }];
  }
  const ours = oursIn(current, placement);
  if (placement.kind === "entry") {
    const own = [...path, placement.key];
    const others = ours
      .filter((key) => key !== placement.key)
      .map((key): Edit => ({ kind: "remove", path: [...path, key] }));
    return isSame(valueAt(root, own), value) ? others : [...others, { kind: "set", path: own, value }];
  }
  if (current === undefined || current === null) return [{ kind: "set", path, value: [value] }];
  const [first] = ours;
  const index = placement.isFirst ? 0 : Number(first ?? (isList(current) ? current.length : 0));
  if (ours.length === 1 && first === index && isSame(valueAt(root, [...path, index]), value)) return [];
  // The new one first: a list never becomes empty on the way.
  const removals = ours.toReversed().map((each): Edit => ({ kind: "remove", path: [...path, Number(each) + 1] }));
  return [{ kind: "insert", path, index, value }, ...removals];
}

/** The keys or indexes of what is ours in a container. */
function oursIn(container: Value | undefined, placement: Exclude<Placement, { kind: "setting" }>): (string | number)[] {
  if (placement.kind === "entry") return isMap(container) ? Object.keys(container).filter(placement.isOurs) : [];
  return isList(container) ? container.flatMap((item, index) => (placement.isOurs(item) ? [index] : [])) : [];
}

function removalsOf(container: Value | undefined, placement: Exclude<Placement, { kind: "setting" }>): Edit[] {
  return oursIn(container, placement)
    .toReversed()
    .map((step) => ({ kind: "remove", path: [...placement.path, step] }));
}

function remember(
  root: ValueMap,
  { placements, edits, before }: { placements: readonly Placement[]; edits: readonly Edit[]; before: Remembered },
): Remembered {
  const settings = placements.filter((each) => each.kind === "setting");
  const replaced = settings.flatMap(({ path, value, isOurs }) => {
    const current = valueAt(root, path);
    const known = before.replaced.filter((each) => isSame(each.path, path));
    const isOldOurs = current !== undefined && isOurs(current, root);
    if (known.length > 0 && isOldOurs) return known;
    if (isSame(current, value)) return known;
    return current === undefined || isOldOurs ? [{ path }] : [{ path, value: current }];
  });
  const others = before.replaced.filter((each) => !settings.some(({ path }) => isSame(path, each.path)));
  const missing = edits.flatMap(({ path, kind }) => {
    const depth = kind === "set" && isList(valueAt(root, path) ?? []) ? path.length : path.length - 1;
    return path.slice(0, depth).map((_, index) => path.slice(0, index + 1));
  });
  const made = [...before.made, ...missing.filter((path) => valueAt(root, path) === undefined)];
  return {
    replaced: [...others, ...replaced],
    made: made.filter((path, index) => made.findIndex((each) => isSame(each, path)) === index),
  };
}

/** Containers of ours that hold nothing any more, the innermost first. */
function emptied(root: Value, made: readonly Path[]): Edit[] {
  const edits: Edit[] = [];
  let current = root;
  for (const path of made.toSorted((one, other) => other.length - one.length)) {
    const container = valueAt(current, path);
    const isEmpty = isList(container)
      ? container.length === 0
      : isMap(container) && Object.keys(container).length === 0;
    if (!isEmpty) continue;
    edits.push({ kind: "remove", path });
    current = withEdit(current, { kind: "remove", path });
  }
  return edits;
}

/** Whether an address is one of these gateways', whatever stands behind its host and `/v1`. */
export function ownedBy(baseUrls: readonly string[]): IsOurs {
  const known = new Set(baseUrls.map(plainAddress));
  return (address) => typeof address === "string" && known.has(plainAddress(address));
}

/** The placements as far as taking back needs them, where no connection is known. */
export function placementsToFind(file: AgentFile, isOurs: IsOurs): readonly Placement[] {
  const model = { id: "", name: "", contextLength: 0, maxOutputTokens: 0, inputModalities: [] };
  const nowhere: Connection = { apiUrl: "", key: "", model };
  return file.placements(nowhere, isOurs);
}

function plainAddress(address: string): string {
  return address.replace(/\/+$/, "").replace(/\/v1$/, "");
}
