// From what an agent wants in a file to the edits that bring it there. Nothing here touches a disk.

import type { IsOurs, Placement } from "./agent.ts";
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

/** A placement in a map or list whose other entries are not ours. */
export type PlacementAmong = Exclude<Placement, { kind: "setting" }>;

/** The edits that point a file at a gateway, and what has to be remembered to take them back. `before` is what is remembered
 * of the file already; null: the user wants every value of it back. */
export function editsToApply(
  root: ValueMap,
  placements: readonly Placement[],
  before: Memory | null,
): { edits: readonly Edit[]; memory: Memory } {
  const edits: Edit[] = [];
  let current: Value = root;
  for (const placement of placements) {
    for (const edit of editsOf(current, placement)) {
      current = withEdit(current, edit);
      edits.push(edit);
    }
  }
  return { edits, memory: memoryOf(root, { placements, edits, before }) };
}

/** Whether a file holds anything of ours. */
export function holdsOurs(root: ValueMap, placements: readonly Placement[]): boolean {
  return placements.some((placement) => {
    const value = valueAt(root, placement.path);
    if (placement.kind === "setting") return value !== undefined && placement.isOurs(value, root);
    return oursIn(value, placement).length > 0;
  });
}

/** The keys or indexes of what is ours in a container. */
export function oursIn(container: Value | undefined, placement: PlacementAmong): (string | number)[] {
  if (placement.kind === "entry") return isMap(container) ? Object.keys(container).filter(placement.isOurs) : [];
  return isList(container) ? container.flatMap((item, index) => (placement.isOurs(item) ? [index] : [])) : [];
}

/** Whether an address is one of these gateways', with anything behind its host and `/v1`. */
export function ownedBy(baseUrls: readonly string[]): IsOurs {
  const known = new Set(baseUrls.map(plainAddress));
  return (address) => typeof address === "string" && known.has(plainAddress(address));
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

type Change = { placements: readonly Placement[]; edits: readonly Edit[]; before: Memory | null };

function memoryOf(root: ValueMap, { placements, edits, before }: Change): Memory {
  const settings = placements.filter((each) => each.kind === "setting");
  const isSetting = (path: Path): boolean => settings.some((each) => isSame(path, each.path));
  const replaced = settings.flatMap(({ path, value, isOurs }) => {
    const current = valueAt(root, path);
    if (isSame(current, value)) return before?.replaced.filter((each) => isSame(each.path, path)) ?? [];
    if (current === undefined) return [{ path }];
    if (before === null || !isOurs(current, root)) return [{ path, value: current }];
    const known = before.replaced.filter((each) => isSame(each.path, path));
    return known.length > 0 ? known : [{ path }];
  });
  const among = before === null ? placements.filter((each) => each.kind !== "setting") : [];
  const found = among.flatMap((placement) => {
    const container = valueAt(root, placement.path);
    return oursIn(container, placement).map((step) => ({
      path: placement.path,
      step,
      value: valueAt(container ?? {}, [step]) ?? null,
    }));
  });
  const entries = found.flatMap(({ path, step, value }) =>
    typeof step === "string" ? [{ path: [...path, step], value }] : [],
  );
  const items = found.flatMap(({ path, step, value }) =>
    typeof step === "number" ? [{ path, index: step, value }] : [],
  );
  return {
    replaced: [...(before?.replaced.filter(({ path }) => !isSetting(path)) ?? []), ...replaced, ...entries],
    items: [...(before?.items ?? []), ...items],
    made: madeBy(edits, { root, before: before?.made ?? [] }),
  };
}

/** The maps and lists that were not there before. */
function madeBy(edits: readonly Edit[], { root, before }: { root: ValueMap; before: readonly Path[] }): Path[] {
  const needed = edits.flatMap(({ path, kind }) => {
    const depth = kind === "set" && isList(valueAt(root, path) ?? []) ? path.length : path.length - 1;
    return path.slice(0, depth).map((_, index) => path.slice(0, index + 1));
  });
  const made = [...before, ...needed.filter((path) => valueAt(root, path) === undefined)];
  return made.filter((path, index) => made.findIndex((each) => isSame(each, path)) === index);
}

function plainAddress(address: string): string {
  return address.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "");
}
