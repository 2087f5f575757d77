import type { BlobStore } from "@flyte-ts/blobstore";
import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { readStored } from "@flyte-ts/input-limits";
import { type Channel, Code, createClient, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import type { AdminCalls, ChildExecution } from "../../engine/calls/admin.js";
import type { CallResult } from "../../engine/calls/call.js";
import { errorToJson } from "../../engine/errors/error-json.js";
import { type CallHandler, CallLimiter } from "./handlers.js";
import { SignalReader } from "./signal-reader.js";
import { toCallFailure } from "./call-failure.js";

export interface AdminHandlerOptions {
  /** Channel to admin, this project's or Go Flyte's. */
  readonly channel: Channel;
  readonly blobs: Pick<BlobStore, "get">;
  /** Maximum of concurrent calls. */
  readonly concurrency: number;
  /** True when other workflows are active besides this one. */
  readonly isShared: (execution: string) => boolean;
}

type AdminCallHandlers = { readonly [K in keyof AdminCalls]: CallHandler<K> };

/** Call handlers that use admin's public API. */
export function adminCallHandlers({ channel, blobs, concurrency, isShared }: AdminHandlerOptions): AdminCallHandlers {
  const admin = createClient({ channel, service: AdminService });
  const signals = createClient({ channel, service: SignalService });
  const call = <V>(work: () => Promise<CallResult<V>>): Promise<CallResult<V>> => work().catch((error: unknown) => toCallFailure(error));
  const limiter = new CallLimiter(concurrency);
  const reader = new SignalReader({ signals, limiter, isShared });
  const limited = limiter.limit({
    createExecution: ({ request }) =>
      call(async () => {
        try {
          await admin.createExecution(request);
          return { kind: "value", value: "created" };
        } catch (error) {
          if (error instanceof RpcError && error.code === Code.ALREADY_EXISTS) return { kind: "value", value: "exists" };
          throw error;
        }
      }),
    readExecution: ({ id }) =>
      call(async () => ({ kind: "value", value: await childOf(await admin.getExecution({ id }), { admin, blobs }) })),
    terminateExecution: ({ id, cause }) =>
      call(async () => {
        try {
          await admin.terminateExecution({ id, cause });
          return { kind: "value", value: "requested" };
        } catch (error) {
          if (error instanceof RpcError && error.code === Code.NOT_FOUND) return { kind: "value", value: "none" };
          if (hasEnded(error)) return { kind: "value", value: "ended" };
          throw error;
        }
      }),
  } satisfies Partial<AdminCallHandlers>);
  return { ...limited, awaitSignal: (signal, execution) => reader.read(signal, execution) };
}

function hasEnded(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false;
  return error.findDetails(EventFailureReasonSchema).some(({ reason }) => reason.case === "alreadyInTerminalState");
}

interface Sources {
  readonly admin: ServiceClient<typeof AdminService>;
  readonly blobs: Pick<BlobStore, "get">;
}

async function childOf({ id, closure }: Execution, { admin, blobs }: Sources): Promise<ChildExecution> {
  switch (closure?.phase) {
    case WorkflowExecution_Phase.SUCCEEDED: {
      const { fullOutputs } = await admin.getExecutionData({ id });
      const uri =
        closure.outputResult.case === "outputs" && closure.outputResult.value.data.case === "uri"
          ? closure.outputResult.value.data.value
          : "";
      if (fullOutputs !== undefined && Object.keys(fullOutputs.literals).length > 0) return { phase: "succeeded", outputs: fullOutputs };
      // Outputs that may be too large for admin to return by value.
      return { phase: "succeeded", outputs: uri === "" ? fullOutputs : await readOutputs(blobs, uri) };
    }
    case WorkflowExecution_Phase.FAILED:
      return { phase: "failed", error: closure.outputResult.case === "error" ? errorToJson(closure.outputResult.value) : undefined };
    case WorkflowExecution_Phase.ABORTED:
      return { phase: "aborted" };
    case WorkflowExecution_Phase.TIMED_OUT:
      return { phase: "timedOut" };
    default:
      return { phase: "running" };
  }
}

async function readOutputs(blobs: Pick<BlobStore, "get">, uri: string): Promise<LiteralMap | undefined> {
  return readStored(blobs, { uri, schema: LiteralMapSchema });
}
