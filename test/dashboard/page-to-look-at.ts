// How a page, or a dialog on it, is told to tests that look at all of them.

import type { Page } from "playwright-core";

/** Something that is done on an open page, and what it is called. */
export type Step = { readonly name: string; readonly on: (page: Page) => Promise<void> };

export type PageToLookAt = {
  /** Words in capitals stand for rows of the seeded world. */
  readonly path: string;
  /** Pages for people who are not signed in are looked at by somebody who is not. */
  readonly isOutside?: true;
  /** Somebody looks at it who has just signed up. */
  readonly isNew?: true;
  /** The file of the page is gone. */
  readonly isBroken?: true;
  /** The calls that the server refuses. */
  readonly refuses?: RegExp;
  /** What is done before it is looked at, in Indonesian. */
  readonly first?: readonly Step[];
  /** It ends in a dialog or a sheet. */
  readonly isDialog?: true;
  /** It goes on asking for as long as it is open. */
  readonly isLive?: true;
  /** What is awaited besides. */
  readonly shows?: RegExp;
};

/** Presses the first button of a name: a dialog leaves only its own. */
export function press(name: RegExp): Step {
  return { name: String(name), on: (page) => page.getByRole("button", { name }).first().click() };
}

/** Types into a field. */
export function fill(label: RegExp, text: string): Step {
  return { name: "", on: (page) => page.getByLabel(label).first().fill(text) };
}

/** Chooses one of a few that are all in sight. */
export function choose(label: RegExp): Step {
  return { name: String(label), on: (page) => page.locator("label").filter({ hasText: label }).first().click() };
}

/** Picks one of a list that opens. */
export function pick(label: RegExp, option: string): Step {
  return { name: option, on: async (page) => void (await page.getByLabel(label).selectOption({ label: option })) };
}

/** Unfolds what stands behind a line. */
export function unfold(name: RegExp): Step {
  return { name: String(name), on: (page) => page.locator("summary").filter({ hasText: name }).first().click() };
}

/** Goes on to another page, by the navigation. */
export function follow(name: RegExp): Step {
  return {
    name: String(name),
    on: (page) => page.getByRole("navigation", { name: "Navigasi utama" }).getByRole("link", { name }).click(),
  };
}

/** What a page is called among all of them. */
export function nameOf({ path, isOutside, isNew, isBroken, refuses, first = [] }: PageToLookAt): string {
  const steps = first.map(({ name }) => name).filter((name) => name !== "");
  const ways = [
    isOutside === true ? ["signed out"] : [],
    isNew === true ? ["of somebody new"] : [],
    isBroken === true ? ["without its file"] : [],
    refuses === undefined ? [] : [`without ${String(refuses)}`],
  ].flat();
  return [path, ...ways, ...steps].join(" ");
}

/** The names that stand for rows, in an address, and those of the days around them. */
export const ROWS =
  /\b(?:ACCOUNT|ACTION|EVENT|MERCHANT|ORDER|REQUEST|RICH_ONE|CUT_ONE|TOP_UP|TRANSFER|FIRST_DAY|LAST_DAY)\b/;

/** The address of a page in a world: the rows that it names by their ids. */
export function addressOf(path: string, rows: Readonly<Record<string, string>>): string {
  return path.replaceAll(new RegExp(ROWS, "g"), (row) => {
    const id = rows[row];
    if (id === undefined) throw new Error(`there is no ${row} for ${path}`);
    return id;
  });
}
