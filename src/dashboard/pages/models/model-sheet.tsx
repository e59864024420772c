// One model in full: its inputs, prices, a calculator of a request's cost, and code to call it.

import { MessageSquare } from "lucide-react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { CodeBlock, CopyIconButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { OtherPriceFacts } from "../../components/price-facts.tsx";
import { Empty, SkeletonLines } from "../../components/states.tsx";
import { embeddingsCode } from "../../snippets/code.ts";
import { FORMATS } from "../../snippets/programs.ts";
import { Snippets } from "../../snippets/snippets.tsx";
import { isEmbeddings } from "./first-model.ts";
import { CachePrice, Modalities } from "./model-columns.tsx";
import { MODELS_MESSAGES } from "./models-messages.ts";
import { PriceCalculator } from "./price-calculator.tsx";

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
        <Sheet model={model} />
      )}
    </Dialog>
  );
}

function Sheet({ model }: { readonly model: Model }) {
  const messages = useMessages(MODELS_MESSAGES);
  const formats = useFormats();
  const makesVectors = isEmbeddings(model);
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <div>
        <p className="flex items-center gap-1">
          <code className="font-mono text-[0.8125rem] break-all">{model.id}</code>
          <CopyIconButton text={model.id} />
          {model.badge === undefined ? null : (
            <Badge tone="good" sign={false}>
              {model.badge}
            </Badge>
          )}
        </p>
        {model.description === "" ? null : <p className="mt-1 text-muted">{model.description}</p>}
      </div>
      <dl className="digits flex flex-col gap-2">
        <Fact name={messages.takes}>
          <Modalities model={model} />
        </Fact>
        {makesVectors ? <Fact name={messages.kind}>{messages.embeddingsAbout}</Fact> : null}
        <Fact name={messages.context}>
          {formats.size(model.contextLength)} {makesVectors ? messages.ofOneText : messages.tokens}
        </Fact>
        {makesVectors ? null : (
          <Fact name={messages.maxOutput}>
            {formats.size(model.maxOutputTokens)} {messages.tokens}
          </Fact>
        )}
        {makesVectors ? null : <Formats model={model} />}
        <Fact name={messages.input}>{formats.exactRupiah(model.pricing?.input)}</Fact>
        {makesVectors ? null : (
          <>
            <Fact name={messages.cache}>
              <CachePrice model={model} />
            </Fact>
            <Fact name={messages.output}>{formats.exactRupiah(model.pricing?.output)}</Fact>
          </>
        )}
        {model.pricing === undefined ? null : <OtherPriceFacts prices={model.pricing} />}
      </dl>
      {model.pricing === undefined ? null : <PriceCalculator pricing={model.pricing} inputOnly={makesVectors} />}
      {makesVectors ? null : (
        <LinkButton to="/playground" search={{ model: model.id }} icon={<MessageSquare aria-hidden />}>
          {messages.tryIt}
        </LinkButton>
      )}
      <section aria-label={messages.use} className="flex min-w-0 flex-col gap-3">
        <h3 className="font-medium">{messages.use}</h3>
        {makesVectors ? (
          <CodeBlock
            what={messages.use}
            code={embeddingsCode(model.id, { origin: window.location.origin, secret: null })}
          />
        ) : (
          <Snippets model={model} />
        )}
      </section>
    </div>
  );
}

/** The formats that an upstream of the model speaks itself, and those that are translated. */
function Formats({ model }: { readonly model: Model }) {
  const messages = useMessages(MODELS_MESSAGES);
  const isNative = ({ id }: { readonly id: string }): boolean => model.nativeProtocols.includes(id);
  const native = FORMATS.filter(isNative);
  const translated = FORMATS.filter((format) => !isNative(format));
  return (
    <>
      {native.length === 0 ? null : <Fact name={messages.native}>{namesOf(native)}</Fact>}
      {translated.length === 0 ? null : <Fact name={messages.translated}>{namesOf(translated)}</Fact>}
    </>
  );
}

function namesOf(formats: readonly { readonly name: string }[]): string {
  return formats.map(({ name }) => name).join(", ");
}
