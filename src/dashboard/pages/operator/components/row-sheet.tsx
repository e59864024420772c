// The sheet of a row that an address names: the row, or why it is not shown.

import type { ReactNode } from "react";
import { Dialog } from "../../../components/dialog.tsx";
import { Empty, SkeletonLines } from "../../../components/states.tsx";
import { NotLoaded, type Paged } from "./rows.tsx";

type RowSheetProps<Row> = {
  /** The query of the list that the row is in. */
  readonly query: Pick<Paged, "error" | "refetch"> & { readonly isPending: boolean };
  readonly open: boolean;
  /** Undefined: the list has no such row, or has not loaded it yet. */
  readonly row: Row | undefined;
  readonly title: string;
  readonly missing: { readonly title: string; readonly about: string };
  readonly onClose: () => void;
  readonly children: (row: Row) => ReactNode;
};

/** A sheet at the side with the list's data of one row. */
export function RowSheet<Row>({ query, open, row, title, missing, onClose, children }: RowSheetProps<Row>) {
  return (
    <Dialog side open={open} onClose={onClose} title={title}>
      {row === undefined ? <Missing query={query} missing={missing} /> : children(row)}
    </Dialog>
  );
}

function Missing({ query, missing }: Pick<RowSheetProps<unknown>, "query" | "missing">) {
  if (query.isPending) return <SkeletonLines lines={8} />;
  if (query.error !== null) return <NotLoaded query={query} />;
  return <Empty title={missing.title}>{missing.about}</Empty>;
}
