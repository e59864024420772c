// The range of days: a number of days until today, or two chosen days.

import { useEffect, useRef, useState } from "react";
import { type Day, isDay } from "../../i18n/days.ts";
import { useMessages } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Segments } from "../../components/segments.tsx";
import { useChangeSearch } from "./change-search.ts";
import { DEFAULT_DAYS, PRESETS, rangeOf, type UsageSearch } from "./usage-search.ts";
import { USAGE_MESSAGES } from "./usage-messages.ts";

/** With it, years have four digits; without it, browsers allow six. */
const LAST_DAY = "2999-12-31";

/** The presets, and the two fields for chosen days. */
export function RangeFilter({ search, today }: { readonly search: UsageSearch; readonly today: Day }) {
  const messages = useMessages(USAGE_MESSAGES);
  const change = useChangeSearch();
  const isOwnRange = search.from !== undefined;
  const { first, last } = rangeOf(search, today);
  return (
    <>
      <Segments
        label={messages.range}
        value={isOwnRange ? "own" : String(search.days ?? DEFAULT_DAYS)}
        choices={[
          ...PRESETS.map((days) => ({ value: String(days), label: `${days} ${messages.days}` })),
          { value: "own", label: messages.own },
        ]}
        onChange={(value) =>
          value === "own"
            ? change({ days: undefined, from: first, to: last })
            : change({ days: Number(value), from: undefined, to: undefined })
        }
      />
      {isOwnRange ? <DayFields from={first} to={last} /> : null}
    </>
  );
}

type Days = { readonly from: Day; readonly to: Day };

function DayFields(known: Days) {
  const messages = useMessages(USAGE_MESSAGES);
  const [{ from, to }, type] = useTypedDays(known);
  const isTurned = isDay(from) && isDay(to) && from > to;
  return (
    <div className="flex flex-wrap items-start gap-3">
      <DayField label={messages.from} day={from} onType={(day) => type({ from: day, to })} />
      <DayField
        label={messages.to}
        day={to}
        problem={isTurned ? messages.daysTurned : undefined}
        onType={(day) => type({ from, to: day })}
      />
    </div>
  );
}

type DayFieldProps = {
  readonly label: string;
  readonly day: string;
  readonly problem?: string | undefined;
  readonly onType: (day: string) => void;
};

/**
 * A day is typed in parts and is invalid until the last of them; the problem is shown when the field loses the focus.
 */
function DayField({ label, day, problem, onType }: DayFieldProps) {
  const messages = useMessages(USAGE_MESSAGES);
  const [isLeft, setLeft] = useState(false);
  const shownProblem = isLeft && !isDay(day) ? messages.dayMissing : problem;
  return (
    <TextField
      type="date"
      label={label}
      {...(shownProblem === undefined ? {} : { problem: shownProblem })}
      value={day}
      max={LAST_DAY}
      onChange={({ target }) => onType(target.value)}
      onBlur={() => setLeft(true)}
      onFocus={() => setLeft(false)}
    />
  );
}

/**
 * Both days as typed. The address is written when they make a range; until then it keeps the previous one. Any other
 * change of the address, such as going back, replaces the typed days.
 */
function useTypedDays({ from, to }: Days): [typed: Days, type: (days: Days) => void] {
  const change = useChangeSearch();
  const [typed, setTyped] = useState<Days>({ from, to });
  // The ranges that were written here and have not come back from the address yet: more may have been typed by then.
  const written = useRef<string[]>([]);
  useEffect(() => {
    const at = written.current.indexOf(`${from} ${to}`);
    written.current = at < 0 ? [] : written.current.slice(at + 1);
    if (at < 0) setTyped({ from, to });
  }, [from, to]);
  const type = (days: Days) => {
    setTyped(days);
    if (!isDay(days.from) || !isDay(days.to) || days.from > days.to) return;
    written.current.push(`${days.from} ${days.to}`);
    change(days);
  };
  return [typed, type];
}
