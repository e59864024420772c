import type { ReactNode } from "react";
import { Facts } from "../../../components/facts.tsx";

/** What is looked at once more before an order is sent. */
export function Review({ children }: { readonly children: ReactNode }) {
  return (
    <div className="rounded-lg border border-line bg-sunken p-4">
      <Facts>{children}</Facts>
    </div>
  );
}
