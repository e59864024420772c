// The body of a callback about a transfer: the same text as the answer to `GET` of the transfer.

import { create } from "@bufbuild/protobuf";
import {
  GetTransferResponseSchema,
  MerchantTransferService,
} from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { invariant } from "../../kernel/invariant.ts";
import { toProtoTransfer } from "../../merchant/proto-transfer.ts";
import type { Transfer, TransferEvent } from "../../merchant/transfers/transfer.ts";
import { routesOf } from "./http-rules.ts";
import { writeAnswer } from "./write-answer.ts";

const [route] = routesOf(MerchantTransferService.method.getTransfer);

/** The REST answer for a transfer, digit for digit. */
export function writeTransferBody(transfer: Transfer, history: readonly TransferEvent[]): string {
  invariant(route !== undefined, "a transfer is shown over REST");
  return writeAnswer(route, create(GetTransferResponseSchema, { transfer: toProtoTransfer(transfer, history) }));
}
