// The sheet of a request, which an address can open.

import { Suspense } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { lazyPage } from "../../layouts/lazy-page.ts";
import { Dialog } from "../../components/dialog.tsx";
import { SkeletonLines } from "../../components/states.tsx";
import { USAGE_MESSAGES } from "./usage-messages.ts";

const RequestSheet = lazyPage(() => import("./request-sheet.tsx"), "RequestSheet");

/** Opens at the right when the address names a request. */
export function UsageSheet({
  requestId,
  onClose,
}: {
  readonly requestId: string | undefined;
  readonly onClose: () => void;
}) {
  const messages = useMessages(USAGE_MESSAGES);
  return (
    <Dialog side open={requestId !== undefined} onClose={onClose} title={messages.request}>
      {requestId === undefined ? null : (
        <Suspense fallback={<SkeletonLines lines={8} />}>
          <RequestSheet requestId={requestId} />
        </Suspense>
      )}
    </Dialog>
  );
}
