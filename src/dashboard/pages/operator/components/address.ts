// The search of an operators' page in its address.

import { useNavigate } from "@tanstack/react-router";

type Change = Readonly<Record<string, string | undefined>>;

/** Changes fields of the open page's address; an undefined or empty field is removed. */
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
