/** The mark and the name. */
export function Brand() {
  return (
    <span className="flex items-center gap-2.5 text-sm font-semibold">
      <svg viewBox="0 0 32 32" className="size-7" aria-hidden>
        <rect width="32" height="32" rx="8" className="fill-action" />
        <path
          d="M21 11.5c-1-1.6-2.8-2.5-5-2.5-2.9 0-5 1.4-5 3.6 0 4.9 10.4 2.2 10.4 7 0 2.2-2.3 3.4-5.3 3.4-2.5 0-4.6-1-5.6-2.8"
          className="fill-none stroke-action-ink"
          strokeWidth="2.6"
          strokeLinecap="round"
        />
      </svg>
      Saldo
    </span>
  );
}
