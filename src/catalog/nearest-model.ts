// The model that was probably meant by an id that is in no catalog: a letter left out, another one too many, or the maker's name
// missing in front.

/** So many letters may differ, and no more than a third of the id. */
const MAX_DISTANCE = 3;
const LETTERS_PER_DIFFERENCE = 3;
/** Longer ids are no slip of the finger, and comparing them costs more. */
const MAX_ID_LENGTH = 100;

/** The id that is closest to the wanted one, null where none is close. Of equally close ones the first. */
export function nearestModel(wanted: string, ids: Iterable<string>): string | null {
  if (wanted.length > MAX_ID_LENGTH) return null;
  const whole = wanted.toLowerCase();
  const name = nameOf(whole);
  let nearest: string | null = null;
  let least = Math.min(MAX_DISTANCE, Math.floor(name.length / LETTERS_PER_DIFFERENCE)) + 1;
  for (const id of ids) {
    const candidate = id.toLowerCase();
    // The same name of another maker counts as one difference: it is close, but an exact id is closer.
    const byName = 1 + distance(name, nameOf(candidate), least - 1);
    const found = Math.min(distance(whole, candidate, least), byName);
    if (found >= least) continue;
    least = found;
    nearest = id;
  }
  return nearest;
}

/** The id without the name of the maker. */
function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** Two rows of the table of distances, used by one call at a time. */
const rows = [new Uint8Array(MAX_ID_LENGTH + 2), new Uint8Array(MAX_ID_LENGTH + 2)] as const;

/**
 * How many letters have to be put in, left out or changed to make one of the other; `limit` where it is that many or more. Only
 * the cells that can be below the limit are looked at: so many to each side of the diagonal.
 */
function distance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit || other.length > MAX_ID_LENGTH) return limit;
  let [before, current] = rows;
  for (let column = 0; column <= other.length; column += 1) before[column] = Math.min(column, limit);
  for (let row = 1; row <= one.length; row += 1) {
    const first = Math.max(1, row - limit);
    const last = Math.min(other.length, row + limit);
    current[first - 1] = first === 1 ? Math.min(row, limit) : limit;
    let least = limit;
    for (let column = first; column <= last; column += 1) {
      const isSame = one.charCodeAt(row - 1) === other.charCodeAt(column - 1);
      const changed = (before[column - 1] ?? limit) + (isSame ? 0 : 1);
      const inserted = (column === row + limit ? limit : (before[column] ?? limit)) + 1;
      const best = Math.min(changed, inserted, (current[column - 1] ?? limit) + 1, limit);
      current[column] = best;
      if (best < least) least = best;
    }
    if (least >= limit && (current[first - 1] ?? limit) >= limit) return limit;
    [before, current] = [current, before];
  }
  return before[other.length] ?? limit;
}
