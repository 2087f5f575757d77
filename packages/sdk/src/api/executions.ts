import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { pathOf, type Resumable, resumeStream } from "@flyte-ts/client/browser";
import {
  type Execution,
  ExecutionCreateRequestSchema,
  ExecutionCreateResponseSchema,
  ExecutionRecoverRequestSchema,
  ExecutionRelaunchRequestSchema,
  ExecutionSchema,
  ExecutionTerminateRequestSchema,
  ExecutionTerminateResponseSchema,
  type WorkflowExecutionGetDataResponse,
  WorkflowExecutionGetDataResponseSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type WatchExecutionResponse, WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { type ApiCall, type FlyteApi, jsonOf, RestError } from "./flyte-api.js";

export interface ExecutionName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

const ALREADY_EXISTS = 6;

/** Executions of the API. */
export class Executions {
  constructor(readonly api: FlyteApi) {}

  /** Creates an execution; false when one of this name exists. */
  create(request: MessageInitShape<typeof ExecutionCreateRequestSchema>): Promise<boolean> {
    return this.#make("/api/v1/executions", jsonOf(ExecutionCreateRequestSchema, request));
  }

  /** Creates an execution with the inputs of another; false when one of this name exists. */
  relaunch(request: MessageInitShape<typeof ExecutionRelaunchRequestSchema>): Promise<boolean> {
    return this.#make("/api/v1/executions/relaunch", jsonOf(ExecutionRelaunchRequestSchema, request));
  }

  /** Creates an execution that keeps what succeeded in another; false when the name exists. */
  recover(request: MessageInitShape<typeof ExecutionRecoverRequestSchema>): Promise<boolean> {
    return this.#make("/api/v1/executions/recover", jsonOf(ExecutionRecoverRequestSchema, request));
  }

  get(id: ExecutionName, call: ApiCall = {}): Promise<Execution> {
    return this.api.call(ExecutionSchema, executionPath("api/v1/executions", id), call);
  }

  /** Returns inputs and outputs. */
  data(id: ExecutionName): Promise<WorkflowExecutionGetDataResponse> {
    return this.api.call(WorkflowExecutionGetDataResponseSchema, executionPath("api/v1/data/executions", id));
  }

  async abort(id: ExecutionName, cause: string, call: ApiCall = {}): Promise<void> {
    const body = jsonOf(ExecutionTerminateRequestSchema, { cause });
    await this.api.call(ExecutionTerminateResponseSchema, executionPath("api/v1/executions", id), { ...call, method: "DELETE", body });
  }

  /** Yields state and changes until the execution ends. @throws RestError */
  live(id: ExecutionName, signal: AbortSignal): AsyncGenerator<WatchExecutionResponse, void> {
    const path = executionPath("api/v1/watch/executions", id);
    const { api } = this;
    async function* open(cursor: string): AsyncGenerator<Resumable<WatchExecutionResponse>> {
      for await (const bytes of api.stream(path, { query: { cursor: cursor || undefined }, signal })) {
        const message = fromBinary(WatchExecutionResponseSchema, bytes);
        yield { message, cursor: message.cursor };
      }
    }
    return resumeStream({ open, signal });
  }

  async #make(path: string, body: unknown): Promise<boolean> {
    try {
      await this.api.call(ExecutionCreateResponseSchema, path, { method: "POST", body });
      return true;
    } catch (error) {
      if (error instanceof RestError && error.code === ALREADY_EXISTS) return false;
      throw error;
    }
  }
}

/** Returns the path of an execution below a prefix. */
export function executionPath(prefix: string, { project, domain, name }: ExecutionName): string {
  return pathOf(prefix, project, domain, name);
}
