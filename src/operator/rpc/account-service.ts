import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import {
  type Customer,
  CUSTOMER_ORDERS,
  type CustomerOrder,
  customerOf,
  findCustomers,
  nameCustomers,
} from "../../identity/store.ts";
import { selectLastRequest } from "../../billing/usage/store.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid, timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { countKeys } from "../../keys/issued-keys.ts";
import { type AccountLimits, readLimits } from "../../ledger/account-limits.ts";
import { readGlances } from "../../ledger/accounts.ts";
import type { PostedMove } from "../../ledger/reference-lock.ts";
import { findMerchants } from "../../merchant/merchants/listings.ts";
import { freezeAccount, limitAccount, recountAccount, unfreezeAccount } from "../commands/accounts.ts";
import { carryOutOrStore, type Requested } from "../second-person/approvals.ts";
import { readOrder } from "../../kernel/list-order.ts";
import { type PageRange, readPage } from "../../kernel/paging.ts";
import { toProtoMerchant } from "./merchant-admin-service.ts";
import { fromRupiah, keyed, moment, orNull, type Parts, rupiah } from "./proto-parts.ts";

/** The most merchants of an account that are shown with it. */
const MAX_MERCHANTS = 100;

/** AccountService: customers' accounts. */
export function createAccountService({
  database,
  operatorContext,
  secondPerson: rule,
}: Pick<Parts, "database" | "operatorContext" | "secondPerson">): ServiceImpl<typeof AccountService> {
  const { pool } = database;

  async function summarise(customers: readonly Customer[]) {
    const ids = customers.map(({ accountId }) => accountId);
    const [glances, keys] = await Promise.all([readGlances(pool, ids), countKeys(database, ids)]);
    return customers.map(({ accountId, email, createdAt }) => {
      const glance = glances.get(accountId);
      invariant(glance !== undefined, "a customer has a ledger account");
      const { available, held, posted, owed, frozenAt } = glance;
      return {
        id: accountId,
        email,
        createdAt: timestampFromDate(createdAt),
        balance: {
          currency: "IDR",
          available: rupiah(available),
          held: rupiah(held),
          posted: rupiah(posted),
          owed: rupiah(owed),
        },
        ...moment("frozenAt", frozenAt),
        workingKeys: keys.get(accountId) ?? 0,
      };
    });
  }

  async function findByQuery(
    query: string,
    order: CustomerOrder | null,
    range: PageRange,
  ): Promise<readonly Customer[]> {
    if (!isUuid(query)) return findCustomers(pool, { text: query, ...range, ...(order === null ? {} : { order }) });
    const customer = await customerOf(pool, query);
    return customer === null ? [] : [customer];
  }

  return {
    async listAccounts(request) {
      const query = request.query.trim();
      const order = readOrder(request.orderBy, CUSTOMER_ORDERS);
      const page = await readPage(
        request,
        (range) => findByQuery(query, order, range),
        ({ accountId }) => accountId,
      );
      return { accounts: await summarise(page.items), nextPageToken: page.nextPageToken };
    },

    async nameAccounts(request) {
      const named = await nameCustomers(pool, request);
      return { accounts: named.map(({ accountId, email }) => ({ id: accountId, email })) };
    },

    async getAccount({ accountId }) {
      const customer = await customerOf(pool, accountId);
      if (customer === null) throw new NotFound("There is no such account.");
      const [[account], limits, lastRequest, merchants] = await Promise.all([
        summarise([customer]),
        readLimits(pool, accountId),
        selectLastRequest(pool, accountId),
        findMerchants(pool, { accountId, beforeId: null, limit: MAX_MERCHANTS }),
      ]);
      return {
        ...(account === undefined ? {} : { account }),
        limits: toProtoLimits(limits),
        ...(lastRequest === null ? {} : { lastUsageAt: timestampFromMs(timeOfUuidv7(lastRequest)) }),
        merchants: merchants.toReversed().map(toProtoMerchant),
      };
    },

    async creditAccount({ accountId, amount, reason, idempotencyKey }, context) {
      const command = { accountId, amount: fromRupiah(amount), reason, reference: idempotencyKey };
      return toProtoRequested(
        await keyed(carryOutOrStore({ by: operatorContext(context), rule }, "account credit", command)),
      );
    },

    async adjustAccount({ accountId, amount, reason, idempotencyKey }, context) {
      const command = { accountId, amount: fromRupiah(amount), reason, reference: idempotencyKey };
      return toProtoRequested(
        await keyed(carryOutOrStore({ by: operatorContext(context), rule }, "account adjust", command)),
      );
    },

    async freezeAccount({ accountId, reason }, context) {
      return { limits: toProtoLimits(await freezeAccount(operatorContext(context), { accountId, reason })) };
    },

    async unfreezeAccount({ accountId, reason }, context) {
      const command = { accountId, reason: orNull(reason) };
      return { limits: toProtoLimits(await unfreezeAccount(operatorContext(context), command)) };
    },

    async setAccountLimit({ accountId, maxOpenRequests, reason }, context) {
      const command = { accountId, reason: orNull(reason), most: maxOpenRequests };
      return { limits: toProtoLimits(await limitAccount(operatorContext(context), command)) };
    },

    async recountAccount({ accountId, reason }, context) {
      const command = { accountId, reason: orNull(reason) };
      const { was, ...limits } = await recountAccount(operatorContext(context), command);
      return { was, limits: toProtoLimits(limits) };
    },

    async creditUsage({ requestId, amount, reason, name }, context) {
      const requested = await carryOutOrStore({ by: operatorContext(context), rule }, "usage credit", {
        requestId,
        amount: amount === "" ? null : fromRupiah(amount),
        note: reason,
        name: orNull(name),
      });
      if (requested.outcome === null) return { pendingApprovalId: requested.pendingApprovalId };
      const note = requested.outcome;
      const { postingId, accountId, isNew } = note;
      const money = { amount: rupiah(note.amount), credited: rupiah(note.credited), left: rupiah(note.left) };
      return { postingId, accountId, isNew, ...money };
    },
  };
}

function toProtoRequested({ outcome, pendingApprovalId }: Requested<PostedMove>) {
  return outcome === null ? { pendingApprovalId } : { posting: toProtoPosting(outcome) };
}

function toProtoPosting({ postingId, available, isNew }: PostedMove) {
  return { postingId, available: rupiah(available), isNew };
}

function toProtoLimits({ frozenAt, maxOpenRequests, openRequests }: AccountLimits) {
  return { ...moment("frozenAt", frozenAt), maxOpenRequests, openRequests };
}
