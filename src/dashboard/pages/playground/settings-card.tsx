import { useId, useState } from "react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { SelectField, TextArea, TextField } from "../../components/field.tsx";
import type { PlaygroundSettings } from "./conversation.ts";
import { FIRST_PROGRAM, FORMATS } from "../../snippets/programs.ts";
import { SNIPPET_MESSAGES } from "../../snippets/snippet-messages.ts";
import { chatModelsOf, isEmbeddings } from "../models/first-model.ts";
import { PLAYGROUND_MESSAGES } from "./playground-messages.ts";
import { EMBEDDINGS } from "./piece.ts";

/** The settings as typed. */
export type TypedSettings = {
  /** The chosen format, for models that answer a chat. */
  readonly format: string;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly isStreamed: boolean;
};

/** So few tokens that a small balance covers their hold. */
export const FIRST_SETTINGS: TypedSettings = {
  format: FIRST_PROGRAM.format,
  system: "",
  temperature: "",
  maxTokens: "1024",
  isStreamed: true,
};

const HIGHEST_TEMPERATURE = 2;
const MOST_TOKENS = 4_294_967_295;

/** The settings to send to a model. Null: a typed value is invalid. */
export function readSettings(typed: TypedSettings, model: Model): PlaygroundSettings | null {
  const { system, isStreamed } = typed;
  if (isEmbeddings(model))
    return { format: EMBEDDINGS, system: "", temperature: null, maxTokens: null, isStreamed: false };
  const format = typed.format;
  const heat = hasTemperature(format) ? readTemperature(typed.temperature) : null;
  const most = readMaxTokens(typed.maxTokens);
  return heat === undefined || most === undefined
    ? null
    : { format, system, temperature: heat, maxTokens: most, isStreamed };
}

/** Anthropic's newer models refuse a temperature, so requests of Messages have none. */
function hasTemperature(format: string): boolean {
  return format !== "messages";
}

function readTemperature(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const value = Number(text.replace(",", "."));
  return value >= 0 && value <= HIGHEST_TEMPERATURE ? value : undefined;
}

function readMaxTokens(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= MOST_TOKENS ? value : undefined;
}

type SettingsCardProps = {
  readonly models: readonly Model[];
  readonly model: Model;
  readonly typed: TypedSettings;
  readonly onTyped: (typed: TypedSettings) => void;
  readonly onModel: (modelId: string) => void;
  /** The model that is asked as well. Undefined: none. */
  readonly other: Model | undefined;
  readonly onOther: (modelId: string | undefined) => void;
};

/** The model and the parameters of the request. */
export function SettingsCard({ models, model, typed, onTyped, onModel, other, onOther }: SettingsCardProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  const { format: formatLabel } = useMessages(SNIPPET_MESSAGES);
  const formats = useFormats();
  const isVector = isEmbeddings(model);
  const streamId = useId();
  // On a narrow page the conversation comes first.
  const [isOpen, setOpen] = useState(() => window.matchMedia("(min-width: 64rem)").matches);
  const { pricing } = model;
  return (
    <Card title={messages.settings} className="max-lg:order-first">
      <div className="flex flex-col gap-4">
        <SelectField
          label={messages.model}
          value={model.id}
          onChange={({ target }) => onModel(target.value)}
          hint={`${formats.exactRupiah(pricing?.input)} ${messages.input}, ${formats.exactRupiah(pricing?.output)} ${messages.output}, ${messages.perMillion}`}
        >
          {models.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
        {isVector ? (
          <p className="text-[0.8125rem] text-muted">{messages.vectorAbout}</p>
        ) : (
          <>
            <CompareField models={models} model={model} other={other} onOther={onOther} />
            <SelectField
              label={formatLabel}
              value={typed.format}
              onChange={({ target }) => onTyped({ ...typed, format: target.value })}
              hint={messages.formatHint}
            >
              {FORMATS.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
          </>
        )}
        <details hidden={isVector} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary className="text-[0.8125rem] font-medium">{messages.more}</summary>
          <div className="mt-3 flex flex-col gap-4">
            <TextArea
              label={messages.system}
              rows={2}
              placeholder={messages.systemHint}
              value={typed.system}
              onChange={({ target }) => onTyped({ ...typed, system: target.value })}
            />
            {hasTemperature(typed.format) ? (
              <TextField
                label={messages.temperature}
                hint={messages.temperatureHint}
                inputMode="decimal"
                value={typed.temperature}
                onChange={({ target }) => onTyped({ ...typed, temperature: target.value })}
                {...(readTemperature(typed.temperature) === undefined ? { problem: messages.temperatureWrong } : {})}
              />
            ) : null}
            <TextField
              label={messages.maxTokens}
              hint={messages.maxTokensHint}
              inputMode="numeric"
              value={typed.maxTokens}
              onChange={({ target }) => onTyped({ ...typed, maxTokens: target.value })}
              {...(readMaxTokens(typed.maxTokens) === undefined ? { problem: messages.maxTokensWrong } : {})}
            />
            <div className="flex items-start gap-2">
              <input
                id={streamId}
                type="checkbox"
                checked={typed.isStreamed}
                onChange={({ target }) => onTyped({ ...typed, isStreamed: target.checked })}
                className="mt-0.5 size-4 accent-action"
              />
              <label htmlFor={streamId} className="text-[0.8125rem]">
                <span className="font-medium">{messages.stream}</span>
                <span className="block text-xs text-muted">{messages.streamHint}</span>
              </label>
            </div>
          </div>
        </details>
      </div>
    </Card>
  );
}

type CompareFieldProps = Pick<SettingsCardProps, "models" | "model" | "other" | "onOther">;

/** The model beside which the chosen one answers. */
function CompareField({ models, model, other, onOther }: CompareFieldProps) {
  const messages = useMessages(PLAYGROUND_MESSAGES);
  return (
    <SelectField
      label={messages.compare}
      value={other?.id ?? ""}
      onChange={({ target }) => onOther(target.value || undefined)}
      {...(other === undefined ? {} : { hint: messages.compareHint })}
    >
      <option value="">{messages.compareNone}</option>
      {chatModelsOf(models)
        .filter(({ id }) => id !== model.id)
        .map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
    </SelectField>
  );
}
