// A call that the server refuses, as a page receives it: with the facts of every error of ours.

import { create, toBinary } from "@bufbuild/protobuf";
import type { Route } from "playwright-core";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";

/** Answers a call with an error that a retry cannot mend. */
export async function refuseCall(route: Route): Promise<void> {
  const facts = create(ErrorFactsSchema, { code: "failed_precondition", requestId: uuidv7() });
  const value = Buffer.from(toBinary(ErrorFactsSchema, facts)).toString("base64").replace(/=+$/, "");
  const details = [{ type: ErrorFactsSchema.typeName, value }];
  await route.fulfill({ status: 400, json: { code: "failed_precondition", message: "refused", details } });
}
