import { BatchQueue, type Time } from "@flyte-ts/async";
import { create, equals } from "@bufbuild/protobuf";
import type { Signal } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralType, LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import type { ServiceClient } from "@flyte-ts/rpc";
import type { CallOf, CallResult } from "../../engine/calls/call.js";
import type { CallLimiter } from "./handlers.js";
import { toCallFailure } from "./call-failure.js";

/** Maximum of concurrent requests for the signals of one execution; further reads form batches. */
const MAX_REQUESTS = 4;
/**
 * Maximum of signals that one request lists. Admin processes as many calls of a connection at a
 * time, so that those that create the signals of a batch leave no others waiting.
 */
const MAX_BATCH = 32;
/**
 * Pace of reads beside other executions, ms for each: that of the values in admin. A gate takes
 * half of it as processor time of all processes.
 */
const MS_PER_READ = 4;
/** Signal ids that can be written in a filter of ListSignals. */
const FILTERABLE_ID = /^[\w.-]+$/;

type Read = Pick<CallOf<"awaitSignal">, "id" | "type">;
type SignalResult = CallResult<Literal | undefined>;

export interface SignalReaderOptions {
  readonly signals: Pick<ServiceClient<typeof SignalService>, "getOrCreateSignal" | "listSignals">;
  readonly limiter: CallLimiter;
  /** True when other workflows are active besides this one. */
  readonly isShared: (execution: string) => boolean;
  readonly time?: Pick<Time, "schedule">;
}

/**
 * Reads the values of signals, and creates signals that do not exist. Reads of one execution that
 * wait for others share a request: an execution with thousands of gates sends few, and beside other
 * executions at a limited pace.
 */
export class SignalReader {
  readonly #reads: BatchQueue<Read, SignalResult>;

  constructor(private readonly options: SignalReaderOptions) {
    const { isShared, time } = options;
    this.#reads = new BatchQueue({
      process: (batch, execution) => this.#readAll(batch, execution),
      maxItems: MAX_BATCH,
      concurrency: MAX_REQUESTS,
      msPerItem: (execution) => (isShared(execution) ? MS_PER_READ : 0),
      ...(time && { time }),
    });
  }

  /** Returns the value of a signal, undefined while it has none; never rejects. */
  read(read: Read, execution: string): Promise<SignalResult> {
    return this.#reads.run(read, execution);
  }

  /** Reads a batch with one request, and separately the signals that this request does not find. */
  async #readAll(batch: readonly Read[], execution: string): Promise<readonly SignalResult[]> {
    const found = await this.#list(batch, execution);
    return Promise.all(
      batch.map(async (read) => {
        const signal = found.get(read.id.signalId);
        const isKnown = signal?.type !== undefined && equals(LiteralTypeSchema, signal.type, typeOf(read));
        return isKnown ? { kind: "value" as const, value: valueOf(signal) } : this.#getOrCreate(read, execution);
      }),
    );
  }

  async #list(batch: readonly Read[], execution: string): Promise<ReadonlyMap<string, Signal>> {
    const ids = batch.map(({ id }) => id.signalId).filter((id) => FILTERABLE_ID.test(id));
    const workflowExecutionId = batch[0]?.id.executionId;
    if (ids.length < 2 || workflowExecutionId === undefined) return new Map();
    const { limiter, signals } = this.options;
    const filters = `value_in(signal_id,${ids.join(";")})`;
    try {
      const { signals: known } = await limiter.run(
        () => signals.listSignals({ workflowExecutionId, limit: ids.length, filters }),
        execution,
      );
      return new Map(known.map((signal) => [signal.id?.signalId ?? "", signal]));
    } catch {
      // The separate requests report the reason.
      return new Map();
    }
  }

  async #getOrCreate(read: Read, execution: string): Promise<SignalResult> {
    const { limiter, signals } = this.options;
    try {
      const signal = await limiter.run(() => signals.getOrCreateSignal({ id: read.id, type: typeOf(read) }), execution);
      return { kind: "value", value: valueOf(signal) };
    } catch (error) {
      return toCallFailure(error);
    }
  }
}

const typeOf = ({ type }: Read): LiteralType => type ?? create(LiteralTypeSchema);

/** Returns the value of a signal; a literal without content is none. */
function valueOf({ value }: { readonly value?: Literal | undefined }): Literal | undefined {
  return value?.value.case === undefined ? undefined : value;
}
