// The time zone in whose days and months the account's budgets are counted.

import { createConnectQueryKey, useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { SelectField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { INDONESIAN_ZONES } from "../../i18n/zones.ts";
import { NotSaved } from "./not-saved.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** The zone, and the form that changes it. */
export function BudgetZoneCard() {
  const messages = useMessages(SETTINGS_MESSAGES);
  const { data, error, refetch } = useQuery(KeysService.method.getBudgetSettings, {});
  const zone = data?.settings?.timeZone;
  return (
    <Card title={messages.budgetZone}>
      <p className="pb-3 text-muted">{messages.budgetZoneAbout}</p>
      {error !== null && zone === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      {zone === undefined && error === null ? <SkeletonLines lines={2} /> : null}
      {zone === undefined ? null : <ZoneForm key={zone} zone={zone} />}
    </Card>
  );
}

function ZoneForm({ zone }: { readonly zone: string }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const [chosen, setChosen] = useState(zone);
  const notify = useNotify();
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation(KeysService.method.setBudgetSettings, {
    onSuccess: () => {
      notify(messages.saved);
      // Keys show when their budgets begin again.
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: KeysService, cardinality: undefined }),
      });
    },
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    mutate({ settings: { timeZone: chosen } });
  };
  return (
    <form onSubmit={save} className="flex flex-col gap-4">
      <SelectField
        label={messages.budgetZoneLabel}
        {...(chosen === zone ? {} : { hint: messages.budgetZoneChange })}
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
      >
        <optgroup label="Indonesia">
          {Object.entries(INDONESIAN_ZONES).map(([name, short]) => (
            <option key={name} value={name}>
              {short} ({name})
            </option>
          ))}
        </optgroup>
        <optgroup label={messages.budgetZoneOthers}>
          {otherZones(zone).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </optgroup>
      </SelectField>
      <NotSaved error={error} />
      <Button type="submit" busy={isPending} disabled={chosen === zone} className="self-start">
        {messages.save}
      </Button>
    </form>
  );
}

/** Every other zone that the browser knows, and the present one. */
function otherZones(present: string): readonly string[] {
  const names = new Set([...Intl.supportedValuesOf("timeZone"), present]);
  return [...names].filter((name) => !(name in INDONESIAN_ZONES)).toSorted();
}
