// The search parameters of the pages.

type RawSearch = Readonly<Record<string, unknown>>;

/** Parameters that a page does not keep count as absent: the router alone would pass them on as they were written. */
export const only =
  <Search extends object>(read: (search: RawSearch) => Search) =>
  (search: RawSearch): Search => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

/** Strings by their names, such as filters; empty ones are omitted. */
export const texts = <Name extends string>(...names: readonly Name[]) =>
  only((search) => {
    const kept: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = search[name];
      // Digits in the address are parsed as a number.
      if (typeof value === "number") kept[name] = String(value);
      if (typeof value === "string" && value !== "") kept[name] = value;
    }
    return kept;
  });
