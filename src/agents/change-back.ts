// From what is ours in a file to the edits that take it out and give back what it replaced. Nothing here touches a disk.

import type { AgentFile, Connection, IsOurs, Placement } from "./agent.ts";
import { oursIn, type PlacementAmong } from "./change.ts";
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
import type { Memory } from "./files/record.ts";

/** The edits that take all of ours out of a file and give back what it replaced. Without a memory, only the first. */
export function editsToRemove(root: ValueMap, placements: readonly Placement[], memory: Memory | null): Edit[] {
  const edits = placements.flatMap((placement): Edit[] => {
    const value = valueAt(root, placement.path);
    if (placement.kind !== "setting") return returned(value, placement, memory);
    const { path } = placement;
    if (value === undefined || !placement.isOurs(value, root)) return [];
    const replaced = memory?.replaced.find((each) => isSame(each.path, path));
    // A setting that had our value before we came is the user's.
    if (memory !== null && replaced === undefined) return [];
    return [replaced?.value === undefined ? { kind: "remove", path } : { kind: "set", path, value: replaced.value }];
  });
  return [...edits, ...emptied(edits.reduce<Value>(withEdit, root), memory?.made ?? [])];
}

/** The placements as far as taking back needs them, where no connection is known. */
export function placementsToFind(file: AgentFile, isOurs: IsOurs): readonly Placement[] {
  const model = { id: "", name: "", contextLength: 0, maxOutputTokens: 0, inputModalities: [] };
  const nowhere: Connection = { apiUrl: "", key: "", model, smallModel: model, isTrafficReduced: true };
  return file.placements(nowhere, isOurs);
}

/** Removes our value from a container and restores the former one; no edits where nothing of ours is left there. */
function returned(container: Value | undefined, placement: PlacementAmong, memory: Memory | null): Edit[] {
  const ours = oursIn(container, placement);
  if (ours.length === 0) return [];
  if (isList(container)) {
    const items = memory?.items.filter(({ path }) => isSame(path, placement.path)) ?? [];
    return returnedItems({ path: placement.path, length: container.length, ours }, items);
  }
  const { path } = placement;
  const entries = new Map(
    memory?.replaced
      .filter((each) => each.path.length === path.length + 1 && isSame(each.path.slice(0, -1), path))
      .map((each) => [each.path.at(-1), each.value]),
  );
  const removals = ours
    .filter((key) => entries.get(key) === undefined)
    .map((key): Edit => ({ kind: "remove", path: [...path, key] }));
  const sets = [...entries].flatMap(([key = "", value]): Edit[] => {
    const isFree = ours.includes(key) || !(isMap(container) && Object.hasOwn(container, key));
    return value !== undefined && isFree ? [{ kind: "set", path: [...path, key], value }] : [];
  });
  return [...removals, ...sets];
}

type List = { readonly path: Path; readonly length: number; readonly ours: readonly (string | number)[] };

/** Items go back to their places among those of the user, before ours go: a list never becomes empty on the way. */
function returnedItems({ path, length, ours }: List, items: Memory["items"]): Edit[] {
  let isOurs = Array.from({ length }, (_, index) => ours.includes(index));
  const inserts = items.map(({ index, value }): Edit => {
    const users = isOurs.flatMap((each, at) => (each ? [] : [at]));
    const at = users[index] ?? isOurs.length;
    isOurs = isOurs.toSpliced(at, 0, false);
    return { kind: "insert", path, index: at, value };
  });
  const removals = isOurs
    .flatMap((each, at) => (each ? [at] : []))
    .toReversed()
    .map((at): Edit => ({ kind: "remove", path: [...path, at] }));
  return [...inserts, ...removals];
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
