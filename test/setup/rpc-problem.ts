import { ConnectError } from "@connectrpc/connect";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";

/** The code of the refusal of a call, or "answered". */
export async function problemOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "answered";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return error.findDetails(ErrorFactsSchema)[0]?.code ?? error.message;
  }
}
