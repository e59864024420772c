// The address of a page of operators: what is looked up stands in it.

import { useNavigate } from "@tanstack/react-router";

type Change = Readonly<Record<string, string | undefined>>;

/** Changes what the address says of the page that is open; what is undefined or empty leaves it. */
export function useChangeAddress(): (change: Change) => void {
  const navigate = useNavigate();
  return (change) =>
    void navigate({
      to: ".",
      search: (search: object) =>
        Object.fromEntries(
          Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined && value !== ""),
        ),
      resetScroll: false,
    });
}
