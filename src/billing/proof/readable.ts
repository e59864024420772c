/** What is read from a text that anyone may have changed. Null: it cannot be read. */
export function readable<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch {
    return null;
  }
}
