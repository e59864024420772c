// A list that comes page by page: it waits, is refused, is empty, or shows its rows and how to get more.

import type { ReactNode } from "react";
import { factsOf } from "../../../api/transport.ts";
import { LoadMore } from "../../../components/load-more.tsx";
import { Failed, SkeletonLines } from "../../../components/states.tsx";
import { Table, type TableProps } from "../../../components/table.tsx";
import { Refused } from "./refused.tsx";

/** What a query of pages says of itself. */
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
  /** Undefined: they have not come yet. */
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

/** A filter that cannot be meant is told as such; everything else failed and can be tried again. */
export function NotLoaded({ query }: { readonly query: Pick<Paged, "error" | "refetch"> }) {
  return factsOf(query.error)?.code === "validation_error" ? (
    <Refused error={query.error} />
  ) : (
    <Failed error={query.error} retry={() => void query.refetch()} />
  );
}
