// One model: in a sheet over the list, and on a page of its own with an address to share.

import { useParams } from "@tanstack/react-router";
import { ArrowLeft, MessageSquare } from "lucide-react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { CopyIconButton } from "../../components/copy.tsx";
import { Fact } from "../../components/facts.tsx";
import { Page } from "../../components/page.tsx";
import { OtherPriceFacts } from "../../components/price-facts.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { EMBEDDINGS_FORMAT, exampleOfEmbeddings } from "../../snippets/embeddings-code.ts";
import { FORMATS } from "../../snippets/programs.ts";
import { ProgramCode, Snippets } from "../../snippets/snippets.tsx";
import { isEmbeddings } from "./first-model.ts";
import { CachePrice, Modalities } from "./model-columns.tsx";
import { MODELS_MESSAGES } from "./models-messages.ts";
import { PriceCalculator } from "./price-calculator.tsx";
import { usePublicModels } from "./public-models.ts";

/** The page of the model that the address names. */
export function ModelPage() {
  const messages = useMessages(MODELS_MESSAGES);
  const { _splat: id } = useParams({ from: "/open-to-all/models/$" });
  const { data, error, refetch } = usePublicModels();
  const model = data?.models.find((each) => each.id === id);
  return (
    <Page
      title={model?.name ?? messages.model}
      actions={
        <LinkButton to="/models" icon={<ArrowLeft aria-hidden />}>
          {messages.allModels}
        </LinkButton>
      }
    >
      {data === undefined ? (
        <Card>
          {error === null ? <SkeletonLines lines={8} /> : <Failed error={error} retry={() => void refetch()} />}
        </Card>
      ) : model === undefined ? (
        <Card>
          <Empty title={messages.unknown} />
        </Card>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <Card className="flex flex-col gap-5">
            <ModelFacts model={model} />
          </Card>
          <Card className="flex flex-col gap-5">
            <ModelUse model={model} />
          </Card>
        </div>
      )}
    </Page>
  );
}

/** Its id, inputs and prices, and a calculator. */
export function ModelFacts({ model }: { readonly model: Model }) {
  const messages = useMessages(MODELS_MESSAGES);
  const formats = useFormats();
  const makesVectors = isEmbeddings(model);
  return (
    <>
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
      </dl>
      <dl className="digits flex flex-col gap-2">
        <Fact name={messages.price}>{messages.perMillion}</Fact>
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
    </>
  );
}

/** Ways to call it. */
export function ModelUse({ model }: { readonly model: Model }) {
  const messages = useMessages(MODELS_MESSAGES);
  const makesVectors = isEmbeddings(model);
  return (
    <>
      {makesVectors ? null : (
        <LinkButton
          to="/playground"
          search={{ model: model.id }}
          icon={<MessageSquare aria-hidden />}
          className="self-start"
        >
          {messages.tryIt}
        </LinkButton>
      )}
      <section aria-label={messages.use} className="flex min-w-0 flex-col gap-3">
        <h2 className="font-medium">{messages.use}</h2>
        {makesVectors ? (
          <ProgramCode
            program={{ format: EMBEDDINGS_FORMAT.id, language: "curl" }}
            request={exampleOfEmbeddings(model.id)}
            place={{ origin: window.location.origin, secret: null }}
          />
        ) : (
          <Snippets model={model} />
        )}
      </section>
    </>
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
