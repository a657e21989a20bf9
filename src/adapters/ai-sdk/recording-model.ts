import { isFields, objectsOf } from "../wire/draft-call.ts";
import { assertLanguageModel, generateWhole, startStream } from "./language-model.ts";
import { ResponseRecord } from "./response-record.ts";

/** What a recording model tells. */
export interface Recorder {
  /** Whether the kernel has a tool of this name. */
  readonly hasTool: (name: string) => boolean;
  /** A response has begun; the ones before it are over. */
  readonly onResponse: (record: ResponseRecord) => void;
}

/**
 * The same language model, each of whose responses is recorded as it goes by; nothing of it is changed
 * or held back.
 * @throws KernelError `INVALID_OPTIONS` for a model's name, or a model of another specification
 */
export function recordingModel<Model extends object>(model: Model, recorder: Recorder): Model {
  assertLanguageModel("toAiSdk(session).model", model);
  const recording = {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls(): unknown {
      return "supportedUrls" in model ? model.supportedUrls : {};
    },
    doGenerate: async (options: object) => {
      const result = await generateWhole(model, options);
      const record = createRecord(options, recorder);
      record.seeWhole(result);
      recorder.onResponse(record);
      return result;
    },
    doStream: async (options: object) => {
      const { stream, ...rest } = await startStream(model, options);
      const record = createRecord(options, recorder);
      recorder.onResponse(record);
      return { ...rest, stream: tap(stream, record) };
    },
  };
  // A language model is these members and no others, whatever its version; all are handed through.
  return recording as unknown as Model;
}

/**
 * A call of a tool that the request offered, and the kernel does not have, is the host's own to run; a
 * call of a name that nobody offered is answered by the kernel, which knows no such tool.
 */
function createRecord(options: object, { hasTool }: Recorder): ResponseRecord {
  const offered = objectsOf("tools" in options ? options.tools : undefined).map((tool) => tool.name);
  return new ResponseRecord((name) => typeof name === "string" && (hasTool(name) || !offered.includes(name)));
}

function tap(stream: ReadableStream<unknown>, record: ResponseRecord): ReadableStream<unknown> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          record.end();
          controller.close();
          return;
        }
        if (isFields(value) && value.type === "error") {
          record.end();
        }
        record.see(value);
        controller.enqueue(value);
      } catch (error) {
        record.end();
        controller.error(error);
      }
    },
    cancel(reason) {
      record.end();
      return reader.cancel(reason);
    },
  });
}
