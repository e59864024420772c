import { useNavigate } from "@tanstack/react-router";
import type { UsageSearch } from "./usage-search.ts";

/** A change of the address; an undefined field is removed. */
type ChangeSearch = (change: { readonly [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }) => void;

/** Changes the address of the usage page. */
export function useChangeSearch(): ChangeSearch {
  const navigate = useNavigate({ from: "/usage" });
  return (change) =>
    void navigate({
      search: (search) => {
        const next = Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined);
        return Object.fromEntries(next);
      },
      resetScroll: false,
    });
}
