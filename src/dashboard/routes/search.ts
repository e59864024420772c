// What the address of a page may hold.

type RawSearch = Readonly<Record<string, unknown>>;

/** What a page does not keep of its address is as if it were not there: the router alone would hand it on as it was written. */
export const only =
  <Search extends object>(read: (search: RawSearch) => Search) =>
  (search: RawSearch): Search => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });

/** Texts by their names, such as filters; what is empty is left out. */
export const texts = <Name extends string>(...names: readonly Name[]) =>
  only((search) => {
    const kept: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = search[name];
      // Digits that somebody typed into the address are read as a number.
      if (typeof value === "number") kept[name] = String(value);
      if (typeof value === "string" && value !== "") kept[name] = value;
    }
    return kept;
  });
