import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetSealResponseSchema } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { SignedRoot } from "./proof/seal-store.ts";

/** The seal as the contract has it. */
export function toProtoSeal(last: SignedRoot | undefined): MessageInitShape<typeof GetSealResponseSchema> {
  if (last === undefined) return {};
  const { day, root } = JSON.parse(last.text) as { day: string; root: string };
  return {
    sealedThrough: day,
    root,
    keyIds: last.signatures.map(({ key }) => key),
    publicKeys: last.signatures.map(({ public_key: key }) => key),
  };
}
