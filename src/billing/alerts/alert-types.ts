// What an account can be alerted of.

import type { BudgetPeriod } from "../../kernel/key-limit-errors.ts";

/** The types of alerts, as webhooks name them. */
export const ALERT_TYPES = [
  "balance.low",
  "key.budget_reached",
  "member.budget_reached",
  "usage.daily",
  "top_up.succeeded",
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

/** The percents of a budget or of a daily spend that can be watched. */
export const PERCENTS = [50, 80, 100] as const;

type BudgetFacts = {
  readonly period: BudgetPeriod;
  readonly percent: number;
  readonly budget: string;
  readonly spent: string;
  /** Whether a request was refused because what is left does not cover it. Absent from rows of versions before. */
  readonly refused?: boolean;
  /** When the budget begins again, in milliseconds of Unix time; 0: never. Absent from rows of versions before. */
  readonly resetMs?: number;
};

/** What a type of alert is about, as its row has it. Amounts are micro-rupiah as text. */
export type AlertFacts = {
  readonly "balance.low": { readonly threshold: string; readonly balance: string };
  /** `personId`: who has made the key. Null: no person did. Absent from rows of versions before. */
  readonly "key.budget_reached": BudgetFacts & {
    readonly keyId: string;
    readonly keyName: string;
    readonly personId?: string | null;
  };
  readonly "member.budget_reached": BudgetFacts & { readonly personId: string };
  readonly "usage.daily": {
    readonly day: string;
    readonly percent: number;
    readonly dailySpend: string;
    readonly spent: string;
  };
  readonly "top_up.succeeded": { readonly topUpId: string; readonly amount: string; readonly paidAt: string };
};

/** An alert that was decided. */
export type Alert = {
  [Type in AlertType]: {
    readonly id: string;
    readonly accountId: string;
    readonly type: Type;
    readonly createdAt: Date;
    readonly data: AlertFacts[Type];
  };
}[AlertType];
