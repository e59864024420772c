import { type RecordedCode, UpstreamBusy } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";

/** The side at which an answer broke off. */
type Side = "upstream" | "service";

/** The answer broke off after a part of it had reached the client. The message names the charge for that part. */
export class AnswerCut extends UpstreamBusy {
  readonly costIdr: string;
  readonly #by: Side;
  constructor({ message, costIdr, by }: { readonly message: string; readonly costIdr: string; readonly by: Side }) {
    super();
    this.message = message;
    this.costIdr = costIdr;
    this.#by = by;
  }

  override get recordedCode(): RecordedCode {
    return this.#by === "service" ? "service_busy" : this.code;
  }
}

export function answerCut({ by, charge }: { readonly by: Side; readonly charge: bigint }): AnswerCut {
  const costIdr = formatMoney(idr(charge));
  const what = by === "upstream" ? "cut off by the upstream" : "cut off, because the service is busy";
  const billed = charge === 0n ? "Nothing was billed." : `Rp ${costIdr} were billed for what was delivered.`;
  return new AnswerCut({ message: `The answer was ${what}. ${billed}`, costIdr, by });
}
