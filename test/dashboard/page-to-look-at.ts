// The description of a page, or of a dialog on it, for the tests that check all of them.

import type { Page } from "playwright-core";

/** A step on an open page, and its name. */
export type Step = { readonly name: string; readonly on: (page: Page) => Promise<void> };

export type PageToLookAt = {
  /** Words in capitals stand for rows of the seeded database. */
  readonly path: string;
  /** A page for people without a session is opened without one. */
  readonly isOutside?: true;
  /** It is opened by a person who has just signed up. */
  readonly isNew?: true;
  /** There is no such page; it only shows that. */
  readonly isNowhere?: true;
  /** The file of the page is missing. */
  readonly isBroken?: true;
  /** The calls that the server refuses. */
  readonly refuses?: RegExp;
  /** The steps before the check, in Indonesian. */
  readonly first?: readonly Step[];
  /** It ends in a dialog or a sheet. */
  readonly isDialog?: true;
  /** It keeps polling while it is open. */
  readonly isLive?: true;
  /** A further text to wait for. */
  readonly shows?: RegExp;
};

/** Presses the first button of a name: an open dialog hides all but its own. */
export function press(name: RegExp): Step {
  return { name: String(name), on: (page) => page.getByRole("button", { name }).first().click() };
}

/** Types into a field. */
export function fill(label: RegExp, text: string): Step {
  return { name: "", on: (page) => page.getByLabel(label).first().fill(text) };
}

/** Chooses one of a few visible options. */
export function choose(label: RegExp): Step {
  return { name: String(label), on: (page) => page.locator("label").filter({ hasText: label }).first().click() };
}

/** Chooses an option of a list that opens. */
export function pick(label: RegExp, option: string): Step {
  return { name: option, on: async (page) => void (await page.getByLabel(label).selectOption({ label: option })) };
}

/** Opens the details of a line. */
export function unfold(name: RegExp): Step {
  return { name: String(name), on: (page) => page.locator("summary").filter({ hasText: name }).first().click() };
}

/** Goes to another page, by the navigation. */
export function follow(name: RegExp): Step {
  return {
    name: String(name),
    on: (page) => page.getByRole("navigation", { name: "Navigasi utama" }).getByRole("link", { name }).click(),
  };
}

/** The unique name of a page. */
export function nameOf({ path, isOutside, isNew, isBroken, refuses, first = [] }: PageToLookAt): string {
  const steps = first.map(({ name }) => name).filter((name) => name !== "");
  const ways = [
    isOutside === true ? ["signed out"] : [],
    isNew === true ? ["of a new account"] : [],
    isBroken === true ? ["without its file"] : [],
    refuses === undefined ? [] : [`without ${String(refuses)}`],
  ].flat();
  return [path, ...ways, ...steps].join(" ");
}

/** The names that stand for rows in an address, and those of days. */
export const ROWS =
  /\b(?:ACCOUNT|ACTION|EVENT|MERCHANT|APPROVAL|REQUEST|RICH_ONE|CUT_ONE|TOP_UP|TRANSFER|FIRST_DAY|LAST_DAY)\b/;

/** The address of a page, with the names of its rows replaced by their ids. */
export function addressOf(path: string, rows: Readonly<Record<string, string>>): string {
  return path.replaceAll(new RegExp(ROWS, "g"), (row) => {
    const id = rows[row];
    if (id === undefined) throw new Error(`there is no ${row} for ${path}`);
    return id;
  });
}
