// Stacked bars, one a day. Our own SVG draws them: model names are only ever text here, never keys or parts of a style.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { scaleOf } from "./chart-scale.ts";

export type BarPart = {
  /** The name as displayed. */
  readonly name: string;
  /** The index of its colour, from 0; the last one is for the rest. */
  readonly colour: number;
  readonly height: number;
  /** The value as displayed. */
  readonly value: string;
};

export type Bar = {
  readonly label: string;
  /** The short label below the bar. */
  readonly shortLabel: string;
  readonly total: string;
  readonly parts: readonly BarPart[];
};

type StackedBarsProps = {
  /** The description for screen readers. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** Formats a height at the left. */
  readonly tick: (height: number) => string;
  /** Whether the values are counts, which have no fractions. */
  readonly whole?: boolean;
  readonly height?: number;
};

const FILLS = [
  "fill-[var(--chart-1)]",
  "fill-[var(--chart-2)]",
  "fill-[var(--chart-3)]",
  "fill-[var(--chart-4)]",
  "fill-[var(--chart-5)]",
  "fill-[var(--chart-6)]",
  "fill-[var(--chart-7)]",
  "fill-[var(--chart-8)]",
] as const;
/** How many parts have a colour of their own; the others share the last. */
export const OWN_COLOURS = FILLS.length - 1;

const LEFT = 56;
const BELOW = 22;
const ABOVE = 8;
/** The room that a label needs. */
const LABEL_WIDTH = 64;

/**
 * The chart. Arrow keys move from bar to bar; the parts of a bar are shown beside the pointer and announced to screen
 * readers.
 */
export function StackedBars({ label, bars, tick, whole = false, height = 240 }: StackedBarsProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [chosen, choose] = useState<number | null>(null);
  const most = Math.max(0, ...bars.map(({ parts }) => parts.reduce((sum, part) => sum + part.height, 0)));
  const lines = scaleOf(most, whole);
  const top = lines.at(-1) || 1;
  const area = { width: Math.max(0, width - LEFT), height: height - BELOW - ABOVE };
  const step = bars.length === 0 ? 0 : area.width / bars.length;
  const y = (value: number): number => ABOVE + area.height - (value / top) * area.height;
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    choose(Math.min(bars.length - 1, Math.max(0, (chosen ?? (by > 0 ? -1 : bars.length)) + by)));
  };
  const shown = chosen === null ? undefined : bars[chosen];
  return (
    <div ref={place} className="relative min-w-0">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <svg
        role="img"
        aria-label={label}
        tabIndex={0}
        width={width}
        height={height}
        onKeyDown={move}
        onBlur={() => choose(null)}
        onPointerLeave={() => choose(null)}
        className="block max-w-full"
      >
        {lines.map((value) => (
          <g key={value}>
            <line x1={LEFT} x2={width} y1={y(value)} y2={y(value)} className="stroke-line" />
            <text x={LEFT - 8} y={y(value) + 4} textAnchor="end" className="fill-muted text-[0.6875rem]">
              {tick(value)}
            </text>
          </g>
        ))}
        {bars.map((bar, index) => (
          <g key={bar.label} onPointerEnter={() => choose(index)}>
            <rect
              x={LEFT + index * step}
              y={ABOVE}
              width={step}
              height={area.height}
              className={chosen === index ? "fill-sunken" : "fill-transparent"}
            />
            <Parts bar={bar} x={LEFT + index * step + step * 0.14} width={step * 0.72} y={y} />
            {hasLabel(index, bars.length, step) ? (
              <text
                x={labelX(index, step, width)}
                y={height - 6}
                textAnchor={labelAnchor(index, step, width)}
                className="fill-muted text-[0.6875rem]"
              >
                {bar.shortLabel}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
      {shown === undefined || chosen === null ? null : (
        <Details bar={shown} left={LEFT + (chosen + 0.5) * step} width={width} />
      )}
      <p className="sr-only" aria-live="polite">
        {shown === undefined
          ? ""
          : [`${shown.label}: ${shown.total}`, ...shown.parts.map((part) => `${part.name} ${part.value}`)].join(", ")}
      </p>
    </div>
  );
}

/** The square of a colour beside a name. */
export function Swatch({ colour }: { readonly colour: number }) {
  return (
    <svg viewBox="0 0 10 10" className="size-2.5 shrink-0" aria-hidden>
      <rect width="10" height="10" rx="3" className={FILLS[colour]} />
    </svg>
  );
}

function Parts({
  bar,
  x,
  width,
  y,
}: {
  readonly bar: Bar;
  readonly x: number;
  readonly width: number;
  readonly y: (value: number) => number;
}) {
  let below = 0;
  return bar.parts.map((part) => {
    const from = below;
    below += part.height;
    const tall = y(from) - y(below);
    return tall <= 0 ? null : (
      <rect
        key={part.name}
        x={x}
        y={y(below)}
        width={width}
        height={Math.max(1, tall - 1)}
        rx={Math.min(2, tall / 2)}
        className={FILLS[part.colour]}
      />
    );
  });
}

function Details({ bar, left, width }: { readonly bar: Bar; readonly left: number; readonly width: number }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    // Set by script: the content security policy refuses inline styles.
    if (box !== null)
      box.style.left = `${Math.max(0, Math.min(left - box.offsetWidth / 2, width - box.offsetWidth))}px`;
  }, [left, width, bar]);
  return (
    <div
      ref={place}
      aria-hidden
      className="pointer-events-none absolute top-0 z-10 min-w-44 rounded-lg border border-line bg-card p-3 text-xs shadow-lg"
    >
      <p className="flex justify-between gap-4 font-medium">
        <span>{bar.label}</span>
        <span className="digits">{bar.total}</span>
      </p>
      {bar.parts.map((part) => (
        <p key={part.name} className="mt-1 flex items-center justify-between gap-4">
          <span className="flex min-w-0 items-center gap-1.5">
            <Swatch colour={part.colour} />
            <span className="max-w-48 truncate font-mono">{part.name}</span>
          </span>
          <span className="digits text-muted">{part.value}</span>
        </p>
      ))}
    </div>
  );
}

function useWidth(place: { readonly current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const watch = new ResizeObserver(() => setWidth(box.clientWidth));
    watch.observe(box);
    setWidth(box.clientWidth);
    return () => watch.disconnect();
  }, [place]);
  return width;
}

/** As many labels as fit, counted from the newest. */
function hasLabel(index: number, count: number, step: number): boolean {
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / Math.max(step, 1)));
  return (count - 1 - index) % every === 0;
}

function labelX(index: number, step: number, width: number): number {
  return labelAnchor(index, step, width) === "end" ? width : LEFT + (index + 0.5) * step;
}

/** The last label would be cut off in the middle of its bar. */
function labelAnchor(index: number, step: number, width: number): "middle" | "end" {
  return LEFT + (index + 0.5) * step + LABEL_WIDTH / 2 > width ? "end" : "middle";
}
