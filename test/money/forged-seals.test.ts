// Seals and roots that the serving role could add: what is not ours is found by the audit, and is not signed by us.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { type ProofKey, proofKey } from "../../src/billing/proof/signing.ts";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup } from "./money-setup.ts";

const KEY: ProofKey = proofKey("a secret of a test that signs the roots of its books");

/** Seals that the serving role adds itself: it may insert, and it has the code, but not the key. */
describe.each(testBackends())("forged seals on the %s database", (backend) => {
  const SIGNER_CHECK = "a root is signed by a key of ours";
  const [FORGER, NEW] = [
    proofKey("a secret of somebody who has the serving login"),
    proofKey("the next secret of ours"),
  ];
  let setup: MoneySetup;
  let account: string;
  beforeEach(async () => {
    setup = await MoneySetup.create(backend);
    account = await setup.account(10_000_000_000n);
  });
  afterEach(() => setup.close());

  const seal = (keys: readonly ProofKey[], days: number) =>
    sealDays(setup.opened.database.pool, { keys, share: 1, nowMs: Date.now() + days * DAY_MS });
  const found = async (keys: readonly ProofKey[]) =>
    (await setup.audit({ topics: topicAudits([], { proofKeys: keys, chains: [] }) })).violations;
  /** A line in a window of its own. */
  const credit = (days: number, to = account) =>
    setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
      SELECT '${to}', id, id, 'IDR/6', '${systemAccounts.revenue}', '${to}', 5, 'credit', clock_timestamp() + interval '${days} days'
      FROM (SELECT new_uuidv7() AS id) new;
      UPDATE account SET posted = posted + 5 WHERE id = '${to}'`);

  it("finds a root that a stranger signed, between roots of ours as well", async () => {
    await seal([KEY], 2);
    await credit(3);
    const forged = await seal([FORGER], 5);
    await credit(6);
    await seal([KEY], 8);
    expect(await setup.audit().then(({ violations }) => violations.map(({ check }) => check))).not.toContain(
      SIGNER_CHECK,
    );
    const signers = (await found([KEY])).filter(({ check }) => check === SIGNER_CHECK);
    expect(signers).toEqual([{ check: SIGNER_CHECK, subject: String(forged?.seal), detail: `signed by ${FORGER.id}` }]);
  });

  it("follows our keys while they change, and no further", async () => {
    await seal([KEY], 2);
    await credit(3);
    await seal([NEW, KEY], 5);
    await credit(6);
    await seal([NEW], 8);
    const signers = async (key: ProofKey) => (await found([key])).filter(({ check }) => check === SIGNER_CHECK);
    expect(await signers(NEW)).toEqual([]);
    // The former key vouches for what it signed, and for nothing behind it.
    expect(await signers(KEY)).toMatchObject([{ subject: "3" }]);
    expect(await signers(FORGER)).toHaveLength(3);
  });

  it("reports that no signature was compared where there is no key", async () => {
    await seal([KEY], 2);
    const { notCompared } = await setup.audit({ topics: topicAudits([], { proofKeys: [], chains: [] }) });
    expect(notCompared).toEqual([expect.stringContaining("SALDO_PROOF_KEY is not set")]);
  });

  it("is not signed by us: a seal of a window to come, and one put behind a root", async () => {
    const forge = (number: number, id = account) =>
      setup.pool.query(
        `INSERT INTO account_seal (account_id, seal, lines, balance, digest, marks) VALUES ($1, $2, 1, 7, sha256('forged'), '')`,
        [id, number],
      );
    await forge(1);
    await expect(seal([KEY], 2)).rejects.toThrow(`seal 1 of account ${account} is not that of its lines`);
    expect(await found([KEY])).toMatchObject([
      {
        check: "the lines of an account are those that were sealed",
        detail: expect.stringContaining(account) as string,
      },
    ]);
    await setup.asOwner("ALTER TABLE account_seal DISABLE TRIGGER USER; DELETE FROM account_seal");
    expect(await seal([KEY], 2)).toMatchObject({ seal: 1 });
    const other = await setup.account(0n);
    await forge(1, other);
    const [problem] = (await found([KEY])).filter(({ check }) => check.startsWith("the root of a seal"));
    expect(problem).toMatchObject({ subject: "1", detail: expect.stringContaining(other) as string });
    // It is in no tree; its own chain would begin there.
    await credit(3);
    await credit(3, other);
    await expect(seal([KEY], 5)).rejects.toThrow("the accounts of seal 1 come to another root");
  });

  it("is not signed by us: a tree with another node, or another order of accounts", async () => {
    await seal([KEY], 2);
    await credit(3);
    const node = (number: number) =>
      setup.pool.query("INSERT INTO proof_node (level, position, seal, hash) VALUES (1, 0, $1, sha256('forged'))", [
        number,
      ]);
    await node(2);
    await expect(seal([KEY], 5)).rejects.toThrow("node 0 of level 1 of seal 2 is not that of its accounts");
    const asOwner = (change: string) => setup.asOwner(`ALTER TABLE proof_node DISABLE TRIGGER USER; ${change}`);
    await asOwner("DELETE FROM proof_node WHERE seal = 2; UPDATE proof_node SET hash = sha256('forged')");
    await expect(seal([KEY], 5)).rejects.toThrow("the accounts of seal 1 come to another root");
    await setup.asOwner("ALTER TABLE proof_place DISABLE TRIGGER USER; DELETE FROM proof_place");
    await setup.pool.query("INSERT INTO proof_place (position, account_id) VALUES (1, $1)", [await setup.account(0n)]);
    await expect(seal([KEY], 5)).rejects.toThrow("the places of the accounts of seal 2 are not those of its order");
  });
});
