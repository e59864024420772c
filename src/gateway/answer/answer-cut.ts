import { UpstreamBusy } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";

/** The answer broke off after a part of it had reached the client. The message names the charge for that part. */
export class AnswerCut extends UpstreamBusy {
  readonly costIdr: string;
  constructor({ message, costIdr }: { readonly message: string; readonly costIdr: string }) {
    super();
    this.message = message;
    this.costIdr = costIdr;
  }
}

/** `by`: the side at which it broke off. */
export function answerCut({ by, charge }: { readonly by: "upstream" | "service"; readonly charge: bigint }): AnswerCut {
  const costIdr = formatMoney(idr(charge));
  const what = by === "upstream" ? "cut off by the upstream" : "cut off, because the service is busy";
  const billed = charge === 0n ? "Nothing was billed." : `Rp ${costIdr} were billed for what was delivered.`;
  return new AnswerCut({ message: `The answer was ${what}. ${billed}`, costIdr });
}
