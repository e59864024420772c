/** The first text of a form in what a start announced. */
export function announcedIn(printed: readonly string[], form: RegExp): string {
  const found = form.exec(printed.join("\n"))?.[0];
  if (found === undefined) throw new Error(`the start announced nothing like ${form}`);
  return found;
}
