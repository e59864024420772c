// A list that loads in pages: loading, refused, empty, or its rows with a button for more.

import type { ReactNode } from "react";
import { factsOf } from "../../../api/transport.ts";
import { LoadMore } from "../../../components/load-more.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { Table, type TableProps } from "../../../components/table.tsx";
import { Refused } from "./refused.tsx";

/** The state of a paged query. */
export type Paged = {
  readonly error: unknown;
  readonly refetch: () => unknown;
  readonly hasNextPage: boolean;
  readonly fetchNextPage: () => unknown;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
};

type RowsProps<Row> = Omit<TableProps<Row>, "rows"> & {
  readonly query: Paged;
  /** Undefined: not loaded yet. */
  readonly rows: readonly Row[] | undefined;
  readonly empty: ReactNode;
};

/** The rows of a list of pages inside a flush card. */
export function Rows<Row>({ query, rows, empty, ...table }: RowsProps<Row>) {
  return (
    <>
      {query.error === null || query.isFetchNextPageError ? null : (
        <div className="p-4">
          <NotLoaded query={query} />
        </div>
      )}
      {rows === undefined && query.error === null ? <SkeletonLines /> : null}
      {rows?.length === 0 ? empty : null}
      {rows === undefined || rows.length === 0 ? null : <Table {...table} rows={rows} />}
      <LoadMore pages={query} />
    </>
  );
}

/** A refused filter is shown as such; any other failure can be tried again. */
export function NotLoaded({ query }: { readonly query: Pick<Paged, "error" | "refetch"> }) {
  return factsOf(query.error)?.code === "validation_error" ? (
    <Refused error={query.error} />
  ) : (
    <Failed error={query.error} retry={() => void query.refetch()} />
  );
}
