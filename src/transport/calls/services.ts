// Every service of the contracts in one list: they are registered, reflected, and served over REST.

import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, Interceptor, ServiceImpl } from "@connectrpc/connect";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { AutoTopUpService } from "#gen/saldo/billing/v1/auto_top_up_service_pb.ts";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { StatementService } from "#gen/saldo/billing/v1/statement_service_pb.ts";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { GeminiService } from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { PublicCatalogService } from "#gen/saldo/gateway/v1/public_catalog_service_pb.ts";
import { MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { ApprovalService } from "#gen/saldo/operator/v1/approval_service_pb.ts";
import { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { TopUpService } from "#gen/saldo/operator/v1/top_up_service_pb.ts";
import { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";
import { StatusService } from "#gen/saldo/status/v1/status_service_pb.ts";
import { type BodyMeter, readMessagesLate } from "./read-message.ts";

/** All services, by the name that the composition root gives their implementations. */
export const services = {
  gateway: GatewayService,
  messages: MessagesService,
  responses: ResponsesService,
  gemini: GeminiService,
  embeddings: EmbeddingsService,
  publicCatalog: PublicCatalogService,
  status: StatusService,
  keys: KeysService,
  billing: BillingService,
  receipts: ReceiptService,
  alerts: AlertService,
  autoTopUps: AutoTopUpService,
  statements: StatementService,
  accounts: AccountsService,
  members: MembersService,
  merchantTransfer: MerchantTransferService,
  merchant: MerchantService,
  callback: CallbackService,
  operatorCatalog: CatalogService,
  operatorAccount: AccountService,
  operatorTopUp: TopUpService,
  operatorTransfer: TransferService,
  operatorPayout: PayoutService,
  operatorMerchant: MerchantAdminService,
  operatorLedger: LedgerService,
  operatorApproval: ApprovalService,
  operatorSystem: SystemService,
} as const satisfies Record<string, DescService>;

/** The implementations of the topics. A missing method answers Unimplemented, and 404 over REST. */
export type Implementations = {
  readonly [Name in keyof typeof services]?: Partial<ServiceImpl<(typeof services)[Name]>>;
};

/** One service with its implementation. */
export type BoundService = {
  readonly service: DescService;
  readonly implementation: Partial<ServiceImpl<DescService>>;
};

/** Each service with its implementation, an empty one where the composition root gave none. */
export function bindServices(implementations: Implementations): BoundService[] {
  const given: Record<string, Partial<ServiceImpl<DescService>> | undefined> = implementations;
  return Object.entries(services).map(([name, service]) => ({ service, implementation: given[name] ?? {} }));
}

/** The protocols of a port. Connect enables each one that is absent here, whatever options its router has. */
export type Protocols = { readonly connect: boolean; readonly grpc: boolean; readonly grpcWeb: boolean };

/** Registers every service on a router behind the given chain, which reads the message of a call. */
export function registerServices(
  router: ConnectRouter,
  implementations: Implementations,
  {
    interceptors,
    protocols,
    meter,
  }: { readonly interceptors: Interceptor[]; readonly protocols: Protocols; readonly meter: BodyMeter },
): void {
  for (const { service, implementation } of bindServices(implementations)) {
    router.service(service, implementation, { interceptors, ...protocols });
  }
  readMessagesLate(router, meter);
}
