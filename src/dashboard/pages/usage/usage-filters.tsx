// The filters of the usage page. Each one writes the address; the address is the filter.

import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import type { ApiKey } from "#gen/saldo/keys/v1/key_pb.ts";
import type { Day } from "../../i18n/days.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { useAllKeys } from "../keys/all-keys.ts";
import { useMembersSeen } from "../members/members-seen.ts";
import { useChangeSearch } from "./change-search.ts";
import { RangeFilter } from "./usage-range.tsx";
import { filterOf, isFiltered, type UsageSearch, type UsageStatus } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

type FilterProps = { readonly search: UsageSearch; readonly today: Day };

/** Range, model, key and status, as they are chosen today. */
export function UsageFilters({ search, today }: FilterProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  return (
    <div className="flex flex-wrap items-end gap-3">
      <RangeFilter search={search} today={today} />
      <ModelFilter search={search} today={today} />
      <KeyFilter chosen={search.key} />
      <MemberFilter chosen={search.member} />
      <SelectField
        label={messages.status}
        value={search.status ?? ""}
        onChange={({ target }) => change({ status: (target.value || undefined) as UsageStatus | undefined })}
      >
        <option value="">{messages.all}</option>
        <option value="billed">{messages.billed}</option>
        <option value="free">{messages.free}</option>
        <option value="failed">{messages.failed}</option>
      </SelectField>
      {isFiltered(search) ? (
        <Button
          variant="quiet"
          onClick={() => change({ model: undefined, key: undefined, member: undefined, status: undefined })}
        >
          {messages.clear}
        </Button>
      ) : null}
    </div>
  );
}

function ModelFilter({ search, today }: FilterProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const models = useModelsUsed(search, today);
  return (
    <SelectField
      className="max-w-56"
      label={messages.model}
      value={search.model ?? ""}
      onChange={({ target }) => change({ model: target.value || undefined })}
    >
      <option value="">{messages.all}</option>
      {models.map((model) => (
        <option key={model}>{model}</option>
      ))}
    </SelectField>
  );
}

/** The models with usage, whichever of them is chosen. */
function useModelsUsed(search: UsageSearch, today: Day): readonly string[] {
  const { model, ...others } = search;
  const { data } = useQuery(
    BillingService.method.summarizeUsage,
    { filter: filterOf(others, today) },
    { placeholderData: keepPreviousData },
  );
  const used = data?.rows.map((row) => row.model) ?? [];
  return [...new Set(model === undefined ? used : [...used, model])].toSorted();
}

function KeyFilter({ chosen }: { readonly chosen: string | undefined }) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const keys = useKeyNames();
  return (
    <SelectField
      className="max-w-56"
      label={messages.key}
      value={chosen ?? ""}
      onChange={({ target }) => change({ key: target.value || undefined })}
    >
      <option value="">{messages.all}</option>
      {[...keys].map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {/* A key in the address that is not the account's: an active filter must be visible. */}
      {chosen === undefined || keys.has(chosen) ? null : <option value={chosen}>{chosen}</option>}
    </SelectField>
  );
}

/** A choice where the account has several members, and the person may see them. */
function MemberFilter({ chosen }: { readonly chosen: string | undefined }) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const members = useMembersSeen();
  if (members.length < 2 && chosen === undefined) return null;
  return (
    <SelectField
      className="max-w-56"
      label={messages.member}
      value={chosen ?? ""}
      onChange={({ target }) => change({ member: target.value || undefined })}
    >
      <option value="">{messages.all}</option>
      {members.map(({ personId, email }) => (
        <option key={personId} value={personId}>
          {email}
        </option>
      ))}
      {chosen === undefined || members.some(({ personId }) => personId === chosen) ? null : (
        <option value={chosen}>{chosen}</option>
      )}
    </SelectField>
  );
}

/**
 * The names of the account's keys by their ids. The playground of a member is followed by the member; other equal names by the start of the
 * key.
 */
export function useKeyNames(): ReadonlyMap<string, string> {
  const messages = useMessages(USAGE_MESSAGES);
  const emails = new Map(useMembersSeen().map(({ personId, email }) => [personId, email]));
  const keys = useAllKeys().data?.keys ?? [];
  const sameName = Map.groupBy(keys, ({ name }) => name);
  const nameOf = ({ id, name, prefix, isPlayground, personId }: ApiKey): string => {
    if (sameName.get(name)?.length === 1) return name;
    if (!isPlayground) return `${name} (${prefix}…)`;
    if (personId === "") return `${name} (${id.slice(-6)})`;
    return `${name} (${emails.get(personId) ?? `${messages.formerMember} ${id.slice(-6)}`})`;
  };
  return new Map(keys.map((key) => [key.id, nameOf(key)]));
}
