import type { ExecutionCreateRequest } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { SignalIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

/** Calls to admin, through its public API. */
export interface AdminCalls {
  /**
   * Creates a child execution. The name is derived from node and attempt: an existing one is the
   * same execution.
   */
  readonly createExecution: { readonly fields: { readonly request: ExecutionCreateRequest }; readonly value: "created" | "exists" };
  readonly readExecution: { readonly fields: { readonly id: WorkflowExecutionIdentifier }; readonly value: ChildExecution };
  /** Terminates an execution; succeeds when it has ended already or does not exist. */
  readonly terminateExecution: {
    readonly fields: { readonly id: WorkflowExecutionIdentifier; readonly cause: string };
    readonly value: "requested" | "ended" | "none";
  };
  /**
   * Returns the value of a signal, undefined while it has none; creates the signal when it does not
   * exist.
   */
  readonly awaitSignal: {
    readonly fields: { readonly id: SignalIdentifier; readonly type: LiteralType | undefined };
    readonly value: Literal | undefined;
  };
}

/** State of an execution. */
export type ChildExecution =
  | { readonly phase: "running" }
  /** `outputs` by value; undefined for a workflow without outputs. */
  | { readonly phase: "succeeded"; readonly outputs: LiteralMap | undefined }
  | { readonly phase: "failed"; readonly error: ExecutionErrorJson | undefined }
  | { readonly phase: "aborted" }
  | { readonly phase: "timedOut" };
