import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { useWords } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { useNotify } from "../../components/notices.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { Refused } from "./refused.tsx";
import { TRANSFER_WORDS } from "./transfer-words.ts";

/** A button and the question behind it. */
export function CancelTransfer({ transferId }: { readonly transferId: string }) {
  const words = useWords(TRANSFER_WORDS);
  const notify = useNotify();
  const queries = useQueryClient();
  const { merchantId } = useMerchantHere();
  const [isAsking, setAsking] = useState(false);
  const { mutate, error, isPending, reset } = useMutation(MerchantService.method.cancelMerchantTransfer, {
    onSuccess: () => {
      setAsking(false);
      notify(words.canceled);
    },
    // Also when it was too late: then the page shows what has become of it.
    onSettled: () =>
      void queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: MerchantService, cardinality: undefined }),
      }),
  });
  const close = () => {
    reset();
    setAsking(false);
  };
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        {words.cancel}
      </Button>
      <Dialog open={isAsking} onClose={close} title={words.cancelTitle} about={words.cancelAbout}>
        {error === null ? null : <Refused error={error} instead={{ validation_error: words.tooLate }} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close}>{words.keep}</Button>
          <Button look="danger" busy={isPending} onClick={() => mutate({ merchantId, transferId })}>
            {words.cancel}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
