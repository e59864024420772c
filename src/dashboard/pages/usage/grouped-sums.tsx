// The sums of a page of usage by what its chart is stacked of: model, key or member. The table of days has the same groups.

import { useQuery } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { BillingService, type SummarizeUsageResponse } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UsageGrouping, type UsageSummary } from "#gen/saldo/billing/v1/usage_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Failed } from "../../components/states.tsx";
import { useMembersSeen } from "../members/members-seen.ts";
import { useKeyNames } from "./usage-filters.tsx";
import type { filterOf, UsageStack } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

type UsageFilter = ReturnType<typeof filterOf>;

/** What groups are called: a title of the chart and of the table of days. */
export const TITLES = { model: "chart", key: "chartByKey", member: "chartByMember" } as const satisfies Record<
  UsageStack,
  string
>;

/** What there is of a summary. `failed`: shown in place of data that failed to load. */
type Sums = { readonly data: SummarizeUsageResponse | undefined; readonly failed: ReactNode | undefined };

/** The sums by a group and day. Those by model are there already. */
export function useGroupedSums(byModel: Sums, filter: UsageFilter, by: UsageStack): Sums {
  const byOther = useOtherSums(filter, by);
  return by === "model" ? byModel : byOther;
}

/** The group of a row: a model, or the id of a key or of a person. */
export function groupOf({ model, keyId, personId }: UsageSummary, by: UsageStack): string {
  return { model, key: keyId, member: personId }[by];
}

/** The name of what usage is grouped by: a model's id, a key's name, a member's address. */
export function useGroupNames(by: UsageStack): (group: string) => string {
  const messages = useMessages(USAGE_MESSAGES);
  const keys = useKeyNames();
  const members = useMembersSeen();
  if (by === "model") return (group) => group;
  if (by === "key") return (group) => keys.get(group) ?? group.slice(0, 8);
  const emails = new Map(members.map(({ personId, email }) => [personId, email]));
  // Keys that services and operators made, and people who are no members any more.
  return (group) =>
    group === "" ? messages.noMember : (emails.get(group) ?? `${messages.formerMember} ${group.slice(-6)}`);
}

/** The sums by key or by member and day, only where they are shown. Until they are loaded, those of the previous filter stay. */
function useOtherSums(filter: UsageFilter, by: UsageStack) {
  const { data, error, refetch } = useQuery(
    BillingService.method.summarizeUsage,
    { filter, grouping: by === "member" ? UsageGrouping.PERSON_AND_DAY : UsageGrouping.KEY_AND_DAY },
    {
      enabled: by !== "model",
      // Rows of another grouping would be stacked under wrong names.
      placeholderData: (previous) => (previous !== undefined && isGroupedBy(previous, by) ? previous : undefined),
    },
  );
  const isFailed = data === undefined && error !== null;
  return { data, failed: isFailed ? <Failed error={error} retry={() => void refetch()} /> : undefined };
}

/** Whether the rows of a summary are by key where they are to be, and by member where they are to be. */
function isGroupedBy({ rows }: SummarizeUsageResponse, by: UsageStack): boolean {
  return rows.some(({ keyId }) => keyId !== "") === (by === "key");
}
