import type { ReactNode } from "react";

const CELL = "px-3 py-2 align-top";

type DocTableProps = {
  /** The table's description for screen readers. */
  readonly label: string;
  readonly head: readonly ReactNode[];
  readonly rows: readonly (readonly ReactNode[])[];
  /** Cells after the first are numbers, which are aligned to the right. */
  readonly numbers?: boolean;
  /** It has few columns and fits on a phone. */
  readonly narrow?: boolean;
};

/**
 * A table of the documentation. It scrolls on its own, never with the page, and therefore takes the keyboard's focus.
 */
export function DocTable({ label, head, rows, numbers = false, narrow = false }: DocTableProps) {
  const side = (index: number) => (numbers && index > 0 ? "text-right whitespace-nowrap" : "");
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="group" tabIndex={0} aria-label={label} className="overflow-x-auto rounded-lg border border-line bg-card">
      <table className={`w-full text-left text-sm ${narrow ? "" : "min-w-lg [&_code]:wrap-normal"}`}>
        <thead className="border-b border-line text-muted">
          <tr>
            {head.map((cell, index) => (
              // oxlint-disable-next-line react/no-array-index-key
              <th key={index} scope="col" className={`${CELL} ${side(index)} font-medium`}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((cells, row) => (
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={row}>
              {cells.map((cell, index) => (
                // oxlint-disable-next-line react/no-array-index-key
                <td key={index} className={`${CELL} ${side(index)}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
