import { describe, expect, it } from "vitest";
import { ServerList } from "./primary.ts";
import { isDatabaseAway } from "./transactions.ts";

type Answer = { readonly system: string; readonly timeline: number | null } | Error;

/** Servers by their hosts, with the answers that the test sets. */
function listOf(answers: Record<string, Answer>) {
  const primaries: string[] = [];
  const list = new ServerList(
    Object.keys(answers).map((host) => ({ host })),
    {
      onPrimary: ({ host }) => void primaries.push(host),
      createClient: ({ host = "" }) =>
        ({
          host,
          port: 5432,
          on: () => undefined,
          connect: async () => undefined,
          end: async () => undefined,
          query: async () => {
            const answer = answers[host];
            if (answer instanceof Error) throw answer;
            return { rows: [answer] };
          },
        }) as never,
    },
  );
  return { list, primaries };
}

/** A list asks again when the last answer is half a second old. */
async function next(list: ServerList, host: string): Promise<void> {
  await expect.poll(async () => (await list.primary().catch(() => null))?.host ?? null).toBe(host);
}

const away = new Error("away");
const standby = { system: "1", timeline: null };

describe("the primary of several servers", () => {
  it("is the one that is no standby, and another one after a failover", async () => {
    const answers: Record<string, Answer> = { one: { system: "1", timeline: 1 }, two: standby, three: away };
    const { list, primaries } = listOf(answers);
    expect(list.last).toBe(null);
    expect(await list.primary()).toMatchObject({ host: "one", port: 5432 });
    answers["one"] = away;
    answers["two"] = { system: "1", timeline: 2 };
    await next(list, "two");
    expect([list.last?.host, ...primaries]).toEqual(["two", "one", "two"]);
  });

  it("is not a former primary that still takes itself for one", async () => {
    const answers: Record<string, Answer> = { one: { system: "1", timeline: 2 }, two: away };
    const { list } = listOf(answers);
    await list.primary();
    answers["one"] = away;
    answers["two"] = { system: "1", timeline: 1 };
    await expect.poll(() => list.primary().catch((error: Error) => error.message)).toMatch(/None of the servers/);
    // A cluster that was is made new begins at 1.
    answers["two"] = { system: "2", timeline: 1 };
    await next(list, "two");
  });

  it("is away where none answers as one", async () => {
    const { list } = listOf({ one: standby, two: away });
    const error = await list.primary().catch((reason: unknown) => reason);
    expect(isDatabaseAway(error)).toBe(true);
  });

  it("is asked for once by all that connect at once", async () => {
    const { list } = listOf({ one: { system: "1", timeline: 1 }, two: standby });
    expect(list.primary()).toBe(list.primary());
    await list.primary();
  });
});
