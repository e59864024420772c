import { describe } from "vitest";
import { lookAtPages } from "./look-at-pages.ts";

describe("every other page", () => {
  lookAtPages(({ path }) => !/^\/(operator|transfers|settings|docs)/.test(path));
});
