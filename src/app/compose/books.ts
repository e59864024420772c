// Everything of one database: its ledger, gateway, people, money, merchants and background work. A serving process puts its servers
// before it.

import type { Pool } from "pg";
import { isDatabaseAway } from "../../database/transactions.ts";
import { createAlertPoster, createCallbackDeliverer, webhookRules } from "./callbacks.ts";
import { createGatewayEvents, lateLog, leftOwedLog, misdatedLog, unwrittenLog } from "../observability/events.ts";
import { createGatewayParts } from "./gateway.ts";
import { merchantServices } from "./merchant.ts";
import { nodeTicks } from "./node-ticks.ts";
import { callerLimits } from "./limits.ts";
import { recordCallsOnAccounts, operatorServices } from "./operator.ts";
import { type AppPeople, createAppPeople, mailTicks } from "./people.ts";
import { createProofTick } from "./proof.ts";
import { createReadiness } from "./readiness.ts";
import { createPayouts } from "./payouts.ts";
import { readTicks, watchStandby } from "./standby.ts";
import { statusService } from "./status.ts";
import { readKeyMembers } from "./key-members.ts";
import { createReceiptParts } from "./receipts.ts";
import { createTopUpParts, type Place } from "./top-ups.ts";
import { createAlertService } from "../../billing/alert-service.ts";
import { createAutoTopUpService } from "../../billing/auto-top-up-service.ts";
import { createTopUpMethods } from "../../billing/proto-top-ups.ts";
import { watchUpstreams } from "./upstreams.ts";
import { readSealedAge } from "../../billing/proof/seal-store.ts";
import { countUnknownPayments } from "../../billing/top-ups/find-top-ups.ts";
import { createBillingService } from "../../billing/service.ts";
import type { Config } from "../config/config.ts";
import { type Database, forRequests } from "../../database/database.ts";
import type { MetricSources } from "../observability/metrics.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { readKeyMakers, readKeyNames } from "../../keys/issued-keys-store.ts";
import { recordActivity } from "../../identity/members/activity.ts";
import { keyRoleOf } from "./members.ts";
import { visibleKeysOf } from "./visible-keys.ts";
import { createKeysService } from "../../keys/service.ts";
import { AdmissionGate } from "../../ledger/admission-switch.ts";
import { GroupCommitLedger } from "../../ledger/group-commit/group-commit.ts";
import { OwedSpool, owedFolder } from "../../ledger/group-commit/owed-spool.ts";
import { ProcessLease } from "../../ledger/process-lease.ts";
import { createPairVerifier } from "../../merchant/merchants/credentials.ts";
import { accountOf, isOperator, memberOf } from "../../transport/calls/callers.ts";
import type { ServersOptions } from "../../transport/server/servers.ts";
import { switchTick } from "../../ledger/jobs/admission-switch.ts";
import { recordChangeOf } from "./record-change.ts";
import { callbackTick } from "../../merchant/jobs/callbacks.ts";
import { watchDatabase } from "../observability/database-watch.ts";
import { holdTicks } from "../../ledger/jobs/holds.ts";
import { postAlertsTick } from "../../billing/jobs/alerts.ts";
import { figuresTick } from "../../gateway/jobs/upstream-figures.ts";
import { startTicks, type Tick } from "../../workers/tick.ts";
import { receivableTick, topUpTicks } from "../../billing/jobs/top-ups.ts";

export type BooksOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: EventLogger;
  /** The books that have the people, where these are another cell's. Null: these have them. */
  readonly home: { readonly database: Database; readonly people: AppPeople } | null;
  /** In which cell an account that is opened now is; null: in this database. Absent: always here. */
  readonly placeAccount?: () => Promise<string | null>;
  /** The database of an account whose money is not in this one; null: it is. Absent: it always is. */
  readonly otherDatabaseOf?: (accountId: string) => Promise<Pool | null>;
  /** Where callers reach the process; right once it listens. */
  readonly place: Place;
  /** Whether this process does the background work that a node needs done by one of its processes. */
  readonly worksForNode: boolean;
  readonly tracedTick: (tick: Tick) => Tick;
  /** Further background work of a node. Absent: none. */
  readonly more?: readonly Tick[];
  /** Whether durations of requests name their traces. */
  readonly withExemplars: boolean;
};

/** The longest that the last requests may take to settle. */
type SettleWithin = () => number;

export type Books = Awaited<ReturnType<typeof openBooks>>;

/**
 * Opens it: takes the lease, and starts the background work. Errors: those of a part that does not start; nothing is left running then.
 */
export async function openBooks(options: BooksOptions, settleWithinMs: SettleWithin) {
  const { config, database, logger, place } = options;
  const { baseUrl } = place;
  // Taken down in the opposite order: the lease last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  const requests = forRequests(database);
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({
    database: requests,
    owner: (requestId) => lease.ownerOf(requestId),
    lanes: config.lanes,
    onLate: lateLog(logger),
    onMisdated: misdatedLog(logger),
    spool: new OwedSpool(owedFolder(config.dataDir), process.pid, unwrittenLog(logger)),
  });
  // Until the ledger is closed the lease has to live: the last requests are settled under it.
  const gate = new AdmissionGate(requests.pool);
  await gate.refresh();
  const standby = watchStandby(options);
  await standby.watch.look();
  const events = createGatewayEvents(logger);
  const watched = watchUpstreams(ledger, events.report);
  const seen = { dataDir: config.dataDir, readSealedAge, countUnknownPayments };
  const watch = options.worksForNode ? watchDatabase(database.pool, seen) : null;
  const people = options.home?.people ?? createAppPeople({ ...options, baseUrl });
  const withPeople = options.home?.database ?? database;
  if (options.home === null) {
    stack.defer(() => people.securityLog.close());
    stack.defer(() => people.breachedPasswords.close());
  }
  const payments = createTopUpParts(options, place);
  stack.defer(() => payments.close());
  const { topUps } = payments;
  const receipts = createReceiptParts(config, database);
  stack.defer(() => receipts.close());
  const payouts = await createPayouts({ config, database, logger });
  stack.defer(() => payouts.stop());
  const callbacks = createCallbackDeliverer(database, options);
  stack.defer(() => callbacks.stop());
  const alerts = createAlertPoster(database, options);
  stack.defer(() => alerts.stop());
  const isStopped = () => gate.isStopped || standby.watch.isMissing;
  const gateway = await createGatewayParts({ ...options, people: withPeople, lease, watched, isStopped, baseUrl });
  const ticks = startTicks(
    [
      ...holdTicks({ pool: database.pool, lease, ledger }),
      switchTick(gate),
      standby.tick,
      ...readTicks(database),
      ...topUpTicks(topUps),
      figuresTick(database.pool, watched.counts),
      gateway.learnedFacts,
      ...(watch === null
        ? []
        : [
            watch.tick,
            ...mailTicks({ pool: database.pool, people: withPeople.pool, mailer: people.mailer, baseUrl }),
            ...payments.autoTopUpTicks.map(standby.whileConfirmed),
            postAlertsTick(alerts),
            receivableTick(database.pool),
            receipts.tick,
            callbackTick(callbacks),
            createProofTick(database.pool, { config, mailer: people.mailer }),
            ...nodeTicks(database.pool, { logger, config, chains: payouts.chains }),
            ...payouts.ticks.map(standby.whileConfirmed),
            ...(options.more ?? []),
          ]),
    ].map(options.tracedTick),
    (tick, err) =>
      logger[isDatabaseAway(err) ? "warn" : "error"]({ event: "job.failed", job: tick, err }, "job failed"),
  );
  stack.defer(() => ticks.stop());
  stack.defer(() => ledger.close());
  await ledger.open();
  leftOwedLog(logger)(await ledger.takeOverOwed());
  stack.defer(() => gateway.upstreams.close());
  stack.defer(() => gateway.running.idle(settleWithinMs()));
  stack.defer(() => gateway.drains.stop());
  const reachability = createReadiness(database, logger);
  stack.defer(() => reachability.close());
  const verifyMerchant = createPairVerifier(database);
  const mayServe = () => !standby.watch.isMissing;
  const ports = {
    implementations: {
      ...gateway.services,
      accounts: people.accounts,
      members: people.members,
      status: statusService({ ...options, catalog: gateway.catalog, payouts, mayServe }),
      keys: createKeysService({
        database,
        accountOf,
        memberOf,
        requireRole: keyRoleOf(database, withPeople),
        recordChangeOf,
      }),
      billing: {
        ...createBillingService({
          database,
          requests,
          accountOf,
          recordChangeOf,
          visibleKeysOf: visibleKeysOf(database, withPeople),
          isOperator,
          keyNames: (accountId) => readKeyNames(database.pool, accountId),
          keyMembers: (accountId) => readKeyMembers(database, accountId),
          keyMakers: (accountId) => readKeyMakers(database.pool, accountId),
        }),
        ...createTopUpMethods({ topUps, accountOf }),
      },
      autoTopUps: createAutoTopUpService({ database, topUps, accountOf }),
      alerts: createAlertService({ database, accountOf, recordChangeOf, rules: webhookRules(config) }),
      ...receipts.services,
      ...merchantServices(database, config, payouts),
      ...operatorServices({ ...options, people: options.home?.database }, { topUps, payouts }),
    },
    gateway: gateway.running.gateway,
    keys: gateway.keys,
    takeCountSlot: gateway.takeCountSlot,
    verifyMerchant,
    recordCall: recordCallsOnAccounts(database),
    recordActivity: (line) => recordActivity(database.pool, line),
    ...callerLimits({ config, database, people, keys: gateway.keys, verifyMerchant }),
    ...people,
    mayServe,
    ready: async () => mayServe() && (await reachability.isReachable()),
    payments,
  } satisfies Partial<ServersOptions>;
  const opened = stack.move();
  const { catalog, drains, running, waitingStreams } = gateway;
  return {
    database,
    people,
    /** What the servers ask. */
    ports,
    ledger,
    catalog,
    events,
    running,
    payouts,
    isStopped: () => gate.isStopped,
    standby: standby.watch,
    streams: { drains, waiting: waitingStreams },
    facts: watch?.facts ?? null,
    /** Stops waiting for payments, before the servers close. */
    endWatching: () => topUps.endWatching(),
    /** Waits until running requests end and settle, then closes everything but the database. */
    close: () => opened.disposeAsync(),
  };
}

/** What the metrics read of open books. */
export function metricSources(books: Books): MetricSources {
  return {
    ledger: books.ledger,
    events: books.events.counts,
    requests: books.running,
    isStopped: books.isStopped,
    streams: books.streams,
    catalogAgeSeconds: () => books.catalog.ageSeconds(),
    database: books.facts,
  };
}
