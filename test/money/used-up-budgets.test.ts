// The alert of a budget that is used up: a request was refused because what is left of it is too little. It comes once in a period.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { MailAudience } from "../../src/billing/mail-readers.ts";
import { decideAlerts } from "../../src/billing/alerts/decide-alerts.ts";
import { alertTick } from "../../src/billing/jobs/alerts.ts";
import { emailOfPerson, mailReadersOf } from "../../src/identity/members/mail-readers.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { testBackends } from "../setup/test-database.ts";
import { AlertSetup, PLACES, RUPIAH } from "./alerts-setup.ts";

describe.each(testBackends())("a budget on the %s database", (backend) => {
  let setup: AlertSetup;
  beforeAll(async () => {
    setup = await AlertSetup.create(backend);
  });
  afterAll(() => setup.close());

  const decide = () => decideAlerts(setup.money.pool);
  const dataOf = async (accountId: string) => (await setup.events(accountId)).map(({ data }) => data);

  describe.each(["key", "member"] as const)("of a %s", (of) => {
    const type = `${of}.budget_reached`;

    /** An account, and a key whose budget it is, or that of its maker. */
    async function limited(rupiah: bigint, period: "total" | "day" = "total") {
      const accountId = await setup.account(100_000n);
      if (of === "key") {
        const keyId = await setup.key(accountId, rupiah, period);
        const limit = (amount: bigint) => setup.limitKey(accountId, keyId, amount, period);
        return { accountId, keyId, limit, facts: { keyId, keyName: "test", personId: null } };
      }
      const { personId, keyId } = await setup.member(accountId, rupiah, period);
      const limit = (amount: bigint) => setup.limitMember(accountId, personId, amount, period);
      return { accountId, keyId, limit, facts: { personId } };
    }

    it("is reached at the percents of it", async () => {
      const { accountId, keyId, facts } = await limited(100n);
      await setup.spend(accountId, keyId, 50);
      await Promise.all([decide(), decide()]);
      await setup.spend(accountId, keyId, 50);
      await Promise.all([decide(), decide()]);
      expect(await setup.made(accountId)).toEqual([`${type} 50`, `${type} 100`]);
      expect((await dataOf(accountId))[1]).toEqual({
        ...facts,
        period: "total",
        percent: 100,
        budget: "100000000",
        spent: "100000000",
        refused: false,
        resetMs: 0,
      });
    });

    it("is used up once where a request is refused for it, though a part of it is left", async () => {
      const { accountId, keyId, facts } = await limited(100n);
      await setup.spend(accountId, keyId, 70);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 50`]);
      await setup.refused(accountId, keyId, 31n);
      await Promise.all([decide(), decide(), decide()]);
      await setup.refused(accountId, keyId, 40n);
      await setup.spend(accountId, keyId, 15);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 50`, `${type} 100`]);
      expect((await dataOf(accountId))[1]).toMatchObject({ ...facts, percent: 100, spent: "70000000", refused: true });
    });

    it("is at no lower percent by a refusal, where the whole is not watched", async () => {
      const { accountId, keyId } = await limited(100n);
      await setup.watch(accountId, [50, 80]);
      await setup.spend(accountId, keyId, 70);
      await setup.refused(accountId, keyId, 31n);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 50`]);
      expect((await dataOf(accountId))[0]).toMatchObject({ spent: "70000000", refused: false });
    });

    it("is used up where requests are refused together", async () => {
      const { accountId, keyId } = await limited(100n);
      await setup.spend(accountId, keyId, 60);
      const asked = Array.from({ length: 30 }, () => setup.refused(accountId, keyId, 41n));
      await Promise.all(asked);
      await Promise.all([decide(), decide()]);
      expect(await setup.made(accountId)).toEqual([`${type} 100`]);
    });

    it("is used up where a running request cannot hold more", async () => {
      const { accountId, keyId } = await limited(100n);
      const requestId = await setup.open(accountId, keyId, 95n);
      const more = { amount: 120n * RUPIAH, leastAmount: 110n * RUPIAH, inputTokens: 1, outputTokens: 1 };
      expect(await setup.ledger.extend({ accountId, requestId, ...more })).toMatchObject({ outcome: "over_budget" });
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 100`]);
    });

    it("is not used up by what others hold, by a request above the whole, or before half of it is spent", async () => {
      const { accountId, keyId } = await limited(100n);
      await setup.spend(accountId, keyId, 49);
      await setup.refused(accountId, keyId, 60n);
      await setup.refused(accountId, keyId, 101n);
      await setup.spend(accountId, keyId, 1);
      await setup.refused(accountId, keyId, 101n);
      await setup.open(accountId, keyId, 45n);
      await setup.refused(accountId, keyId, 6n);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 50`]);
    });

    it("is used up again where another amount is, and in the next period", async () => {
      const { accountId, keyId, limit } = await limited(100n, "day");
      await setup.spend(accountId, keyId, 60);
      await setup.refused(accountId, keyId, 41n);
      await decide();
      // Raised: no request was refused for the new amount.
      await limit(140n);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 100`]);
      await setup.spend(accountId, keyId, 20);
      await setup.refused(accountId, keyId, 61n);
      await decide();
      expect(await setup.made(accountId)).toEqual([`${type} 100`, `${type} 100`]);
      // What was used up yesterday is not today.
      await setup.money.asOwner(
        `UPDATE ${of === "key" ? "api_key" : "member_budget"} SET budget_start = budget_start - interval '2 days',
           budget_used_up_at = budget_used_up_at - interval '1 day' WHERE account_id = '${accountId}'`,
      );
      await decide();
      expect(await setup.made(accountId)).toHaveLength(2);
      await setup.spend(accountId, keyId, 80);
      await setup.refused(accountId, keyId, 61n);
      await decide();
      expect(await setup.made(accountId)).toHaveLength(3);
    });
  });

  it("of a key is used up beside that of its maker, each once", async () => {
    const accountId = await setup.account(100_000n);
    const { personId, keyId } = await setup.member(accountId, 100n, "month");
    await setup.limitKey(accountId, keyId, 80n, "month");
    await setup.spend(accountId, keyId, 60);
    await setup.refused(accountId, keyId, 21n);
    await setup.limitKey(accountId, keyId, 1_000n, "month");
    await setup.refused(accountId, keyId, 41n);
    await decide();
    await decide();
    expect(await setup.made(accountId)).toEqual(["member.budget_reached 100"]);
    expect((await dataOf(accountId))[0]).toMatchObject({ personId, refused: true });
  });

  describe("by mail", () => {
    const readersHere = () => ({
      readersOf: (account: string, audience: MailAudience) => mailReadersOf(setup.money.pool, account, audience),
      emailOf: (personId: string) => emailOfPerson(setup.money.pool, personId),
    });
    const { signal } = new AbortController();
    const DUE = "UPDATE alert_event SET mail_at = clock_timestamp() WHERE mail_at IS NOT NULL";
    const person = (facts: { id: string; accountId: string | null }) => `
      INSERT INTO auth.person (id, email, email_verified, name, account_id)
      VALUES ('${facts.id}', '${facts.id}@test.example', true, 'N', ${facts.accountId === null ? "NULL" : `'${facts.accountId}'`});`;

    /** An account with a member of each role, by role, all of whom read English. */
    async function team() {
      const accountId = await setup.account(100_000n);
      const roles = ["owner", "admin", "developer", "billing", "viewer"] as const;
      const people = Object.fromEntries(roles.map((role) => [role, uuidv7()])) as Record<
        (typeof roles)[number],
        string
      >;
      const holder = uuidv7();
      await setup.money.asOwner(
        `INSERT INTO customer (account_id, email, language) VALUES ('${accountId}', '${holder}@test.example', 'en');
         ${person({ id: holder, accountId })}
         ${roles.map((role) => `${person({ id: people[role], accountId: null })} INSERT INTO account_member (account_id, person_id, role) VALUES ('${accountId}', '${people[role]}', '${role}');`).join("\n")}`,
      );
      const names = new Map([...Object.entries(people).map(([role, id]) => [id, role] as const), [holder, "holder"]]);
      const worker = setup.worker("en", readersHere());
      const readers = () => worker.mails.flatMap(({ to }) => names.get(to.split("@")[0] ?? "") ?? []).toSorted();
      return { accountId, people, worker, readers, mailTo: (id: string) => worker.to(id)[0] };
    }

    it("a member's is read by owners, admins and the member, in their own words", async () => {
      const { accountId, people, worker, readers, mailTo } = await team();
      const keyId = await setup.money.key(accountId);
      await setup.money.pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [keyId, people.developer]);
      await setup.limitMember(accountId, people.developer, 100n, "month");
      await setup.spend(accountId, keyId, 70);
      await setup.refused(accountId, keyId, 31n);
      await worker.look();
      await worker.look();
      expect(readers()).toEqual(["admin", "developer", "holder", "owner"]);
      const own = mailTo(people.developer);
      expect(own?.subject).toBe(
        "Saldo: your budget did not cover a request / anggaran Anda tidak cukup untuk sebuah permintaan",
      );
      expect(own?.text).toContain(
        "You have used Rp 70.00 of the budget of Rp 100.00 (for this month). What is left did not cover a request, which was refused.",
      );
      expect(own?.text).toContain("https://saldo.example/usage");
      expect(own?.text).not.toContain("https://saldo.example/alerts");
      const others = mailTo(people.admin);
      expect(others?.text).toContain(`The member ${people.developer}@test.example has used Rp 70.00 of the budget`);
      expect(others?.text).toContain("https://saldo.example/members");
      expect(others?.text).toContain("Change your alerts at: https://saldo.example/alerts");
    });

    it("a key's is read by owners, admins and the maker, and money by owners, admins and billing", async () => {
      const { accountId, people, worker, readers } = await team();
      const keyId = await setup.key(accountId, 10n, "total");
      await setup.money.pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [keyId, people.developer]);
      await setup.spend(accountId, keyId, 10);
      await worker.look();
      expect(readers()).toEqual(["admin", "developer", "holder", "owner"]);
      worker.mails.length = 0;
      await setup.paidTopUp(accountId);
      await worker.look();
      expect(readers()).toEqual(["admin", "billing", "holder", "owner"]);
    });

    it("is sent again to those alone whose mail failed, and to no person who has left", async () => {
      const { accountId, people, worker, readers } = await team();
      await setup.money.pool.query("DELETE FROM account_member WHERE person_id = $1", [people.admin]);
      await setup.spend(accountId, await setup.key(accountId, 10n, "total"), 10);
      worker.failTo(people.owner);
      await expect(worker.look()).rejects.toThrow("could not be sent");
      expect(readers()).toEqual(["holder", "owner"]);
      worker.failTo(null);
      worker.mails.length = 0;
      await setup.money.asOwner(DUE);
      await worker.look();
      await worker.look();
      expect(readers()).toEqual(["owner"]);
    });

    it("goes to no reader when another process may have taken it over, and to the others by a later claim", async () => {
      const { accountId } = await team();
      await setup.spend(accountId, await setup.key(accountId, 10n, "total"), 10);
      const mails: string[] = [];
      const mailer = {
        send: ({ to }: { to: string }) => {
          mails.push(to);
          vi.advanceTimersByTime(130_000); // a slow mail server
          return Promise.resolve();
        },
      };
      const { run } = alertTick({ pool: setup.money.pool, mailer, ...readersHere(), places: () => PLACES });
      vi.useFakeTimers({ toFake: ["performance"] });
      try {
        await run(signal);
        expect(mails).toHaveLength(2);
        await setup.money.asOwner(DUE);
        await run(signal);
      } finally {
        vi.useRealTimers();
      }
      expect(new Set(mails).size).toBe(3);
      expect(mails).toHaveLength(3);
    });

    it("counts as perhaps sent where that is so of any reader", async () => {
      const { accountId } = await team();
      await setup.spend(accountId, await setup.key(accountId, 10n, "total"), 10);
      const causes = [{ responseCode: 550 }, { code: "ETIMEDOUT" }, { responseCode: 550 }];
      const mailer = {
        send: () => Promise.reject(new UpstreamBusy(1, { cause: Object.assign(new Error("failed"), causes.shift()) })),
      };
      const { run } = alertTick({ pool: setup.money.pool, mailer, ...readersHere(), places: () => PLACES });
      await expect(run(signal)).rejects.toThrow("could not be sent");
      const { rows } = await setup.money.pool.query("SELECT mail_attempts FROM alert_event WHERE account_id = $1", [
        accountId,
      ]);
      expect(rows).toEqual([{ mail_attempts: 4 }]);
    });
  });
});
