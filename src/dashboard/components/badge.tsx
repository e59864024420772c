import { CircleAlert, CircleCheck, CircleDot, CircleX, Clock3 } from "lucide-react";
import type { ReactNode } from "react";

export type Tone = "good" | "warn" | "bad" | "info" | "sandbox" | "neutral";

const TONES: Readonly<Record<Tone, string>> = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  sandbox: "bg-sandbox-soft text-sandbox",
  neutral: "bg-sunken text-muted",
};

const SIGNS = {
  good: CircleCheck,
  warn: Clock3,
  bad: CircleX,
  info: CircleDot,
  sandbox: CircleAlert,
  neutral: CircleDot,
};

/** A state as a word with its own icon: colour alone is not enough for many readers. */
export function Badge({
  tone = "neutral",
  sign = true,
  children,
}: {
  readonly tone?: Tone;
  readonly sign?: boolean;
  readonly children: ReactNode;
}) {
  const Sign = SIGNS[tone];
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {sign ? <Sign className="size-3.5" aria-hidden /> : null}
      {children}
    </span>
  );
}
