import type { ReactNode } from "react";
import { Facts } from "../../../components/facts.tsx";

/** The facts to review before a command is sent. */
export function Review({ children }: { readonly children: ReactNode }) {
  return (
    <div className="rounded-lg border border-line bg-sunken p-4">
      <Facts>{children}</Facts>
    </div>
  );
}
