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
/** Maximum of signals that one request lists. */
const MAX_BATCH = 100;
/** Signal ids that can be written in a filter of ListSignals. */
const FILTERABLE_ID = /^[\w.-]+$/;

type Read = Pick<CallOf<"awaitSignal">, "id" | "type">;
type SignalResult = CallResult<Literal | undefined>;

interface WaitingRead extends Read {
  readonly resolve: (result: SignalResult) => void;
}

interface Queue {
  readonly waiting: WaitingRead[];
  requests: number;
}

/**
 * Reads the values of signals, and creates signals that do not exist. Reads of one execution that
 * wait for others share a request: an execution with thousands of gates sends few.
 */
export class SignalReader {
  /** Executions with requests in flight. */
  readonly #queues = new Map<string, Queue>();

  constructor(
    private readonly signals: Pick<ServiceClient<typeof SignalService>, "getOrCreateSignal" | "listSignals">,
    private readonly limiter: CallLimiter,
  ) {}

  /** Returns the value of a signal, undefined while it has none; never rejects. */
  read({ id, type }: Read, execution: string): Promise<SignalResult> {
    const { promise, resolve } = Promise.withResolvers<SignalResult>();
    let queue = this.#queues.get(execution);
    if (queue === undefined) this.#queues.set(execution, (queue = { waiting: [], requests: 0 }));
    queue.waiting.push({ id, type, resolve });
    this.#send(execution, queue);
    return promise;
  }

  #send(execution: string, queue: Queue): void {
    while (queue.waiting.length > 0 && queue.requests < MAX_REQUESTS) {
      queue.requests++;
      void this.#readAll(queue.waiting.splice(0, MAX_BATCH), execution).then(() => {
        queue.requests--;
        this.#send(execution, queue);
        if (queue.requests === 0) this.#queues.delete(execution);
      });
    }
  }

  /** Reads a batch with one request, and separately the signals that this request does not find. */
  async #readAll(batch: readonly WaitingRead[], execution: string): Promise<void> {
    const found = await this.#list(batch, execution);
    await Promise.all(
      batch.map(async (read) => {
        const signal = found.get(read.id.signalId);
        const isKnown = signal?.type !== undefined && equals(LiteralTypeSchema, signal.type, typeOf(read));
        read.resolve(isKnown ? { kind: "value", value: valueOf(signal) } : await this.#getOrCreate(read, execution));
      }),
    );
  }

  async #list(batch: readonly Read[], execution: string): Promise<ReadonlyMap<string, Signal>> {
    const ids = batch.map(({ id }) => id.signalId).filter((id) => FILTERABLE_ID.test(id));
    const workflowExecutionId = batch[0]?.id.executionId;
    if (ids.length < 2 || workflowExecutionId === undefined) return new Map();
    const filters = `value_in(signal_id,${ids.join(";")})`;
    try {
      const { signals } = await this.limiter.run(
        () => this.signals.listSignals({ workflowExecutionId, limit: ids.length, filters }),
        execution,
      );
      return new Map(signals.map((signal) => [signal.id?.signalId ?? "", signal]));
    } catch {
      // The separate requests report the reason.
      return new Map();
    }
  }

  async #getOrCreate(read: Read, execution: string): Promise<SignalResult> {
    try {
      const signal = await this.limiter.run(() => this.signals.getOrCreateSignal({ id: read.id, type: typeOf(read) }), execution);
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
