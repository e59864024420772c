// What formats share to write texts of events.

/** At most so many code units, and no half of a pair. */
export function beginOf(text: string, length: number): string {
  const begin = text.slice(0, length);
  return begin.isWellFormed() ? begin : begin.slice(0, -1);
}

/** Line breaks between the lines of an event's data are white space: inside a JSON string there can be none. */
export function onOneLine(data: string): string {
  return data.replaceAll("\n", " ");
}

/** What `write` returns. Null: it has to write something that is nested too deep. */
export function unlessTooDeep<Written>(write: () => Written): Written | null {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
