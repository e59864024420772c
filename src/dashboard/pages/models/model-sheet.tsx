// One model in a sheet over the list.

import { ExternalLink } from "lucide-react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Empty, SkeletonLines } from "../../components/states.tsx";
import { ModelFacts, ModelUse } from "./model-view.tsx";
import { MODELS_MESSAGES } from "./models-messages.ts";

type ModelSheetProps = {
  readonly modelId: string | undefined;
  readonly models: readonly Model[] | undefined;
  readonly onClose: () => void;
};

/** Opens at the right when the address names a model. */
export function ModelSheet({ modelId, models, onClose }: ModelSheetProps) {
  const messages = useMessages(MODELS_MESSAGES);
  const model = models?.find(({ id }) => id === modelId);
  return (
    <Dialog side open={modelId !== undefined} onClose={onClose} title={model?.name ?? messages.model}>
      {model === undefined ? (
        models === undefined ? (
          <SkeletonLines lines={8} />
        ) : (
          <Empty title={messages.unknown} />
        )
      ) : (
        <div className="flex min-w-0 flex-col gap-5">
          <ModelFacts model={model} />
          <ModelUse model={model} />
          <LinkButton
            to="/models/$"
            params={{ _splat: model.id }}
            variant="quiet"
            icon={<ExternalLink aria-hidden />}
            className="self-start"
          >
            {messages.ownPage}
          </LinkButton>
        </div>
      )}
    </Dialog>
  );
}
