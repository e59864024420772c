// The part of the composition for the public status: it binds the records of the topics to the board.

import { readProviderAnswers } from "../../billing/top-ups/provider-answers.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Database } from "../../database/database.ts";
import { publicNameOf } from "../../gateway/upstreams/presets.ts";
import { readUpstreamCalls } from "../../gateway/upstreams/upstream-figures.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { readAdmissionStop } from "../../ledger/admission-switch.ts";
import { readWalletFacts } from "../../merchant/payouts/payout-facts.ts";
import { listStops, type PayoutStop } from "../../merchant/payouts/payout-stops.ts";
import { createStatusService } from "../../status/service.ts";
import { type PayingWallet, StatusBoard, type StatusSources } from "../../status/status-board.ts";
import type { MinuteOfCalls } from "../../status/upstream-states.ts";
import type { Config } from "../config/config.ts";
import type { Payouts } from "./payouts.ts";

export type StatusParts = {
  readonly config: Pick<Config, "payments">;
  readonly database: Pick<Database, "pool">;
  readonly logger: Pick<EventLogger, "warn">;
  readonly catalog: Catalog;
  readonly payouts: Pick<Payouts, "chains">;
  readonly mayServe: () => boolean;
};

/** Makes the service. */
export function statusService({ config, database: { pool }, logger, catalog, payouts, mayServe }: StatusParts) {
  const { chosen } = config.payments;
  const sources: StatusSources = {
    stoppedSince: async () => (await readAdmissionStop(pool))?.since ?? null,
    mayServe,
    upstreams: () => readUpstreams(pool, catalog),
    topUps: chosen === null ? null : () => readProviderAnswers(pool, chosen),
    wallets: () => readWallets(pool, payouts.chains),
  };
  const onUnread = (err: unknown): void =>
    logger.warn({ event: "status.unread", err }, "the public status is shown without records, which cannot be read");
  return createStatusService(new StatusBoard({ sources, clock: systemClock, onUnread }));
}

/** The calls of the upstreams that a model names, by public name. Those without one come last and together. */
async function readUpstreams(
  pool: Database["pool"],
  catalog: Catalog,
): Promise<ReadonlyMap<string, readonly MinuteOfCalls[]>> {
  const [{ models, upstreams }, calls] = await Promise.all([catalog.snapshot(), readUpstreamCalls(pool)]);
  const routed = new Set([...models.values()].flatMap(({ routes }) => routes.map(({ upstream }) => upstream)));
  const known = [...upstreams.values()].filter(({ id }) => routed.has(id));
  const ofName = Map.groupBy(known, (upstream) => publicNameOf(upstream) ?? "");
  const sorted = [...ofName].toSorted(
    ([one], [other]) => Number(one === "") - Number(other === "") || (one < other ? -1 : 1),
  );
  return new Map(
    sorted.map(([name, own]) => [name, own.flatMap(({ id }) => calls.filter(({ upstream }) => upstream === id))]),
  );
}

/** The wallets of the chains of production; without any, that of the sandbox. */
async function readWallets(pool: Database["pool"], chains: Payouts["chains"]): Promise<PayingWallet[]> {
  const [facts, stops] = await Promise.all([readWalletFacts(pool), listStops(pool)]);
  const real = chains.filter(({ feeCoin }) => feeCoin !== null);
  return (real.length === 0 ? chains : real).map(({ name, wallet }) => {
    const known = facts.find(({ chain, address }) => chain === name && address === wallet);
    const moments = [
      known?.haltedAt ?? [],
      stops.filter((stop) => covers(stop, { name, wallet })).map(stoppedAtOf),
    ].flat(2);
    return {
      stoppedAt: moments.length === 0 ? null : new Date(Math.min(...moments.map((at) => at.getTime()))),
      oldestPayoutSeconds: known?.oldestPayoutSeconds ?? 0,
    };
  });
}

function covers({ chain, address }: PayoutStop, { name, wallet }: { name: string; wallet: string }): boolean {
  return chain === "" || (chain === name && (address === "" || address === wallet));
}

function stoppedAtOf({ stoppedAt }: PayoutStop): Date {
  return stoppedAt;
}
