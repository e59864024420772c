// The expected ledger, in plain TypeScript: no database and no concurrency. It predicts the answer of every action and the books
// after it. It imports nothing of the code under test but the types of its interface.

import type { AdmissionRequest, UsageBasis } from "../../../src/ledger/ledger.ts";
import type { Action, Answer, Tokens } from "./actions.ts";
import { costAt } from "./reference-cost.ts";

/** How long a request counts in the window of its key. */
const WINDOW_SECONDS = 60;

type Limits = { frozen: boolean; mostOpen: number };
export type Key = { readonly accountId: string; rateLimit: number; isRevoked: boolean; slotAges: number[] };
type Hold = { readonly owner: string; amount: bigint; forgotten: boolean; input: number; output: number };
type Resolved = { readonly cost: bigint; readonly charge: bigint; readonly basis: UsageBasis };

export class ReferenceLedger {
  readonly posted = new Map<string, bigint>();
  /** What each account owes of top-ups that were given back. */
  readonly owed = new Map<string, bigint>();
  /** Each top-up with its amount and the part that was given back, by its name. */
  readonly topUps = new Map<string, { readonly accountId: string; readonly amount: bigint; givenBack: bigint }>();
  readonly limits = new Map<string, Limits>();
  readonly keys = new Map<string, Key>();
  readonly holds = new Map<string, Hold>();
  readonly resolved = new Map<string, Resolved>();
  /** The charge and the loss beyond the charge of recovery. */
  readonly late = new Map<string, { readonly charge: bigint; readonly loss: bigint }>();
  /** Every request that was ever granted, with the facts of its admission. */
  readonly requests = new Map<string, AdmissionRequest>();
  /** The amount of each reference on each account that it credited. */
  readonly credits = new Map<string, Map<string, bigint>>();
  /** The credit notes of each request by their names. */
  readonly notes = new Map<string, Map<string, bigint>>();
  /** How often each process has died. */
  readonly deaths: number[];

  constructor(processes: number) {
    this.deaths = Array.from({ length: processes }, () => 0);
  }

  clone(): ReferenceLedger {
    return new ReferenceLedger(0).copyFrom(this);
  }

  copyFrom(other: ReferenceLedger): this {
    return Object.assign(this, structuredClone(other));
  }

  openAccount(accountId: string, keys: Readonly<Record<string, number>>): void {
    this.posted.set(accountId, 0n);
    this.owed.set(accountId, 0n);
    this.limits.set(accountId, { frozen: false, mostOpen: 0 });
    for (const [keyId, rateLimit] of Object.entries(keys))
      this.keys.set(keyId, { accountId, rateLimit, isRevoked: false, slotAges: [] });
  }

  accountOf(requestId: string): string {
    return this.#request(requestId).accountId;
  }

  held(accountId: string): bigint {
    return this.holdsOf(accountId).reduce((sum, [, { amount }]) => sum + amount, 0n);
  }

  available(accountId: string): bigint {
    const left = this.#free(accountId) - this.owedBy(accountId);
    return left > 0n ? left : 0n;
  }

  cost(requestId: string, tokens: Tokens): bigint {
    return costAt(this.#request(requestId).prices, tokens);
  }

  /** Does what an action should do, and returns its expected answer. */
  apply(action: Action): Answer {
    switch (action.do) {
      case "credit":
        return this.#credit(action);
      case "admit":
        return this.#admit(action.request, action.process, action.forgotten);
      case "settle":
        return this.#settle(action.requestId, this.cost(action.requestId, action.tokens), action.basis);
      case "release":
        return this.#settle(action.requestId, 0n, "free");
      case "extend":
        return this.#extend(action);
      case "die":
        this.deaths[action.process] = (this.deaths[action.process] ?? 0) + 1;
        return {};
      case "recover":
        return this.#recover();
      case "sweep":
        for (const [requestId, hold] of this.holds)
          if (hold.forgotten && hold.owner === this.#owner(action.process)) this.#settle(requestId, 0n, "free");
        return {};
      case "give back":
        return this.#giveBack(action);
      case "buy":
        this.topUps.set(action.topUpId, { accountId: action.accountId, amount: action.amount, givenBack: 0n });
        this.#add(action.accountId, action.amount);
        this.#collect(action.accountId);
        return {};
      case "charge back":
        return this.#chargeBack(action);
      case "collect":
        for (const accountId of this.owed.keys()) this.#collect(accountId);
        return {};
      case "revoke":
        this.#key(action.keyId).isRevoked = true;
        return {};
      case "freeze":
        this.limitsOf(action.accountId).frozen = action.frozen;
        return {};
      case "crowd":
        this.limitsOf(action.accountId).mostOpen = action.most;
        return {};
      case "limit":
        this.#key(action.keyId).rateLimit = action.rateLimit;
        return {};
      case "wait":
        this.#key(action.keyId).slotAges = this.#key(action.keyId).slotAges.map((age) => age + action.seconds);
        return {};
      default:
        throw new Error(`the model has no such action: ${JSON.stringify(action satisfies never)}`);
    }
  }

  #credit({ accountId, amount, reference }: Extract<Action, { do: "credit" }>): Answer {
    const ofReference = this.credits.get(reference) ?? new Map<string, bigint>();
    if (!ofReference.has(accountId)) {
      this.credits.set(reference, new Map([...ofReference, [accountId, amount]]));
      this.#add(accountId, amount);
      this.#collect(accountId);
    }
    return { available: this.available(accountId) };
  }

  /** A name counts once, and the notes of a request never exceed its charge. */
  #giveBack({ requestId, amount, name }: Extract<Action, { do: "give back" }>): Answer {
    const before = this.resolved.get(requestId);
    if (before === undefined) return { error: "not_found" };
    const charge = before.charge + (this.late.get(requestId)?.charge ?? 0n);
    const notes = this.notes.get(requestId) ?? new Map<string, bigint>();
    this.notes.set(requestId, notes);
    const given = [...notes.values()].reduce((sum, each) => sum + each, 0n);
    const known = notes.get(name);
    const isMeant = amount === null ? given === charge : amount === known;
    if (known !== undefined && !isMeant) return { error: "validation_error" };
    if (known !== undefined) return { amount: known, credited: given, left: charge - given, isNew: false };
    const wanted = amount ?? charge - given;
    if (wanted <= 0n || given + wanted > charge) return { error: "limit_exceeded" };
    notes.set(name, wanted);
    const accountId = this.accountOf(requestId);
    this.#add(accountId, wanted);
    this.#collect(accountId);
    return { amount: wanted, credited: given + wanted, left: charge - given - wanted, isNew: true };
  }

  /** Unheld money is taken, and the rest is owed: a payment can be given back once. */
  #chargeBack({ topUpId, amount }: Extract<Action, { do: "charge back" }>): Answer {
    const topUp = this.topUps.get(topUpId);
    if (topUp === undefined) throw new Error(`the test charges back a top-up that was never bought: ${topUpId}`);
    const given = amount < topUp.amount ? amount : topUp.amount;
    if (given <= topUp.givenBack) return {};
    const back = given - topUp.givenBack;
    topUp.givenBack = given;
    const free = this.#free(topUp.accountId);
    const taken = free < back ? free : back;
    this.#add(topUp.accountId, -taken);
    this.owed.set(topUp.accountId, this.owedBy(topUp.accountId) + back - taken);
    return {};
  }

  #collect(accountId: string): void {
    const [free, owed] = [this.#free(accountId), this.owedBy(accountId)];
    const collected = free < owed ? free : owed;
    this.#add(accountId, -collected);
    this.owed.set(accountId, owed - collected);
  }

  #free(accountId: string): bigint {
    return (this.posted.get(accountId) ?? 0n) - this.held(accountId);
  }

  owedBy(accountId: string): bigint {
    return this.owed.get(accountId) ?? 0n;
  }

  #add(accountId: string, amount: bigint): void {
    this.posted.set(accountId, (this.posted.get(accountId) ?? 0n) + amount);
  }

  #admit(request: AdmissionRequest, process: number, forgotten: boolean): Answer {
    const { accountId, keyId, requestId, amount, leastAmount } = request;
    const key = this.keys.get(keyId);
    if (key === undefined || key.accountId !== accountId || key.isRevoked) return { outcome: "revoked" };
    const { frozen, mostOpen } = this.limitsOf(accountId);
    if (frozen) return { outcome: "frozen" };
    const { rateLimit: limit } = key;
    if (limit > 0 && slotsTaken(key) >= limit) return { outcome: "limited", limit, remaining: 0 };
    if (mostOpen > 0 && this.holdsOf(accountId).length >= mostOpen)
      return { outcome: "crowded", limit, remaining: limit === 0 ? 0 : limit - slotsTaken(key) };
    if (limit > 0) key.slotAges.push(0);
    const remaining = limit === 0 ? 0 : limit - slotsTaken(key);
    const available = this.available(accountId);
    if (available < leastAmount) return { outcome: "refused", available, limit, remaining };
    const granted = available < amount ? available : amount;
    this.requests.set(requestId, request);
    this.holds.set(requestId, { owner: this.#owner(process), amount: granted, forgotten, input: 0, output: 0 });
    return { outcome: "granted", amount: granted, limit, remaining };
  }

  /** A hold grows to the requested amount, or to the available one if that is enough. The progress is recorded in either case. */
  #extend({ requestId, amount, least, input, output }: Extract<Action, { do: "extend" }>): Answer {
    const hold = this.holds.get(requestId);
    if (hold === undefined) return { outcome: "gone" };
    hold.input = Math.max(hold.input, input);
    hold.output = Math.max(hold.output, output);
    const accountId = this.accountOf(requestId);
    const most = hold.amount + this.available(accountId);
    if (most < least) {
      return { outcome: "refused", amount: hold.amount, othersHold: this.held(accountId) > hold.amount };
    }
    const reachable = amount < most ? amount : most;
    if (reachable > hold.amount) hold.amount = reachable;
    return { outcome: "granted", amount: hold.amount };
  }

  /** Only the first settlement counts; a later one gets the result of the first. */
  #settle(requestId: string, cost: bigint, basis: UsageBasis, most?: bigint): Answer {
    const before = this.resolved.get(requestId);
    if (before?.basis === "recovered") return this.#settleLate(requestId, cost, before);
    if (before !== undefined) return { cost: before.cost, charge: before.charge };
    const hold = this.holds.get(requestId);
    if (hold === undefined) return { error: "a request without a hold has been settled" };
    const accountId = this.accountOf(requestId);
    const limit = most ?? hold.amount + this.available(accountId);
    const charge = cost < limit ? cost : limit;
    this.holds.delete(requestId);
    this.resolved.set(requestId, { cost, charge, basis });
    this.#add(accountId, -charge);
    // The worker collects from the money that a recovery frees.
    if (basis !== "recovered") this.#collect(accountId);
    return { cost, charge };
  }

  /** The first settlement after a recovery is charged the cost beyond the charge of recovery. */
  #settleLate(requestId: string, cost: bigint, recovered: Resolved): Answer {
    const known = this.late.get(requestId);
    if (known !== undefined) return { cost, charge: recovered.charge + known.charge };
    if (cost === 0n) return { cost, charge: recovered.charge };
    const accountId = this.accountOf(requestId);
    const due = cost > recovered.cost ? cost - recovered.cost : 0n;
    const available = this.available(accountId);
    const charge = due < available ? due : available;
    this.late.set(requestId, { charge, loss: due - charge });
    this.#add(accountId, -charge);
    return { cost, charge: recovered.charge + charge };
  }

  /** The recorded progress of a dead process's request, limited by its hold. */
  #recover(): Answer {
    for (const [requestId, { owner, amount, input, output }] of this.holds) {
      if (this.deaths.some((_, process) => owner === this.#owner(process))) continue;
      this.#settle(requestId, this.cost(requestId, { uncached: input, cached: 0, output }), "recovered", amount);
    }
    return {};
  }

  #owner(process: number): string {
    return `process ${process}, life ${this.deaths[process] ?? 0}`;
  }

  holdsOf(accountId: string): [string, Hold][] {
    return [...this.holds].filter(([requestId]) => this.accountOf(requestId) === accountId);
  }

  limitsOf(accountId: string): Limits {
    const limits = this.limits.get(accountId);
    if (limits === undefined) throw new Error(`the test asks for an account that was never opened: ${accountId}`);
    return limits;
  }

  #request(requestId: string): AdmissionRequest {
    const request = this.requests.get(requestId);
    if (request === undefined) throw new Error(`the test asks for a request that was never granted: ${requestId}`);
    return request;
  }

  #key(keyId: string): Key {
    const key = this.keys.get(keyId);
    if (key === undefined) throw new Error(`the test asks for a key that was never made: ${keyId}`);
    return key;
  }
}

/** How many requests of a key count in its window now. */
export function slotsTaken({ slotAges }: Key): number {
  return slotAges.filter((age) => age < WINDOW_SECONDS).length;
}
