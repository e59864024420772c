import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { Refused } from "../../components/refused.tsx";
import { TRANSFER_MESSAGES } from "./transfer-messages.ts";

/** A button and its confirmation. */
export function CancelTransfer({ transferId }: { readonly transferId: string }) {
  const messages = useMessages(TRANSFER_MESSAGES);
  const notify = useNotify();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { mutate, error, isPending, reset } = useMutation(MerchantTransferService.method.cancelTransfer, {
    onSuccess: () => {
      setAsking(false);
      notify(messages.canceled);
    },
    // Also when it was too late: the page then shows the transfer's new state.
    onSettled: () =>
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: MerchantTransferService, cardinality: undefined }),
      }),
  });
  const close = () => {
    reset();
    setAsking(false);
  };
  return (
    <>
      <Button variant="danger" onClick={() => setAsking(true)}>
        {messages.cancel}
      </Button>
      <Dialog open={isAsking} onClose={close} title={messages.cancelTitle} about={messages.cancelAbout}>
        {error === null ? null : <Refused error={error} instead={{ validation_error: messages.tooLate }} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close}>{messages.keep}</Button>
          <Button variant="danger" busy={isPending} onClick={() => mutate({ id: transferId })}>
            {messages.cancel}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
