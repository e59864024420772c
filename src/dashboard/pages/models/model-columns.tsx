import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Badge } from "../../components/badge.tsx";
import { CopyIconButton } from "../../components/copy.tsx";
import type { Column } from "../../components/table.tsx";
import { isEmbeddings } from "./first-model.ts";
import { MODELS_MESSAGES } from "./models-messages.ts";

/** The columns of the list of models. */
export function useModelColumns(): readonly Column<Model>[] {
  const messages = useMessages(MODELS_MESSAGES);
  const formats = useFormats();
  return [
    {
      key: "model",
      head: messages.model,
      cell: ({ id, name, badge, kind }) => (
        <>
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
            {name}
            {isEmbeddings({ kind }) ? (
              <Badge tone="info" sign={false}>
                {messages.embeddings}
              </Badge>
            ) : null}
            {badge === undefined ? null : (
              <Badge tone="good" sign={false}>
                {badge}
              </Badge>
            )}
          </span>
          <span className="block font-mono text-xs break-all text-muted md:hidden">{id}</span>
        </>
      ),
    },
    {
      key: "id",
      head: messages.id,
      wide: true,
      cell: ({ id }) => (
        // Above the row's own button.
        <span className="relative z-1 -my-1 inline-flex items-center gap-1">
          <code className="font-mono text-[0.8125rem] break-all">{id}</code>
          <CopyIconButton text={id} />
        </span>
      ),
    },
    { key: "takes", head: messages.takes, wide: true, cell: (model) => <Modalities model={model} /> },
    {
      key: "context",
      head: messages.context,
      right: true,
      wide: true,
      cell: ({ contextLength }) => formats.size(contextLength),
    },
    {
      key: "input",
      head: messages.input,
      right: true,
      cell: (model) => <PriceWithTier model={model} name="input" />,
    },
    {
      key: "cache",
      head: messages.cache,
      right: true,
      wide: true,
      cell: (model) => (isEmbeddings(model) ? <NoOutput /> : <CachePrice model={model} />),
    },
    {
      key: "output",
      head: messages.output,
      right: true,
      cell: (model) => (isEmbeddings(model) ? <NoOutput /> : <PriceWithTier model={model} name="output" />),
    },
  ];
}

/** An embeddings model has no output to pay. */
function NoOutput() {
  return <span className="text-muted">–</span>;
}

/** The inputs that a model accepts, in words. */
export function Modalities({ model }: { readonly model: Model }) {
  const messages: Readonly<Record<string, string>> = useMessages(MODELS_MESSAGES);
  return (model.architecture?.inputModalities ?? []).map((modality) => messages[modality] ?? modality).join(", ");
}

/** A price, and the input length at which it first changes. */
function PriceWithTier({ model: { pricing }, name }: { readonly model: Model; readonly name: "input" | "output" }) {
  const formats = useFormats();
  const [tier] = pricing?.longContext ?? [];
  return (
    <span className="whitespace-nowrap">
      {formats.exactRupiah(pricing?.[name])}
      {tier === undefined ? null : (
        <span className="block text-xs text-muted max-md:hidden">
          &gt; {formats.size(tier.above)}: {formats.exactRupiah(tier[name])}
        </span>
      )}
    </span>
  );
}

/** The price of cached input, as a share of the input price. */
export function CachePrice({ model: { pricing } }: { readonly model: Model }) {
  const messages = useMessages(MODELS_MESSAGES);
  const formats = useFormats();
  if (pricing?.cacheHit === undefined) return <span className="text-muted">{messages.asInput}</span>;
  return (
    <span className="whitespace-nowrap">
      {formats.exactRupiah(pricing.cacheHit)}
      {pricing.cacheHitPercent === undefined ? null : (
        <span className="text-muted"> ({formats.percent(pricing.cacheHitPercent / 100)})</span>
      )}
    </span>
  );
}
