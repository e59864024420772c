// All operators' services as one client: no two of their methods have the same name.

import { createClient, type Transport } from "@connectrpc/connect";
import { AccountService } from "#gen/saldo/operator/v1/account_service_pb.ts";
import { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { LedgerService } from "#gen/saldo/operator/v1/ledger_service_pb.ts";
import { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import { ApprovalService } from "#gen/saldo/operator/v1/approval_service_pb.ts";
import { PayoutService } from "#gen/saldo/operator/v1/payout_service_pb.ts";
import { SystemService } from "#gen/saldo/operator/v1/system_service_pb.ts";
import { TopUpService } from "#gen/saldo/operator/v1/top_up_service_pb.ts";
import { TransferService } from "#gen/saldo/operator/v1/transfer_service_pb.ts";

export type OperatorClient = ReturnType<typeof createOperatorClient>;

export function createOperatorClient(transport: Transport) {
  return {
    ...createClient(AccountService, transport),
    ...createClient(CatalogService, transport),
    ...createClient(LedgerService, transport),
    ...createClient(MerchantAdminService, transport),
    ...createClient(ApprovalService, transport),
    ...createClient(PayoutService, transport),
    ...createClient(SystemService, transport),
    ...createClient(TopUpService, transport),
    ...createClient(TransferService, transport),
  };
}
