/** Thrown by a task: another attempt may succeed. All other errors end the node. */
export class RecoverableError extends Error {
  override readonly name = "RecoverableError";
}

/** Thrown by a task: the system failed, not the code of the task. */
export class SystemError extends Error {
  override readonly name = "SystemError";
}

/** Thrown by a task: its outputs are written elsewhere. */
export class IgnoreOutputs extends Error {
  override readonly name = "IgnoreOutputs";
}

/** A value does not have its declared type. The message names the place within the value. */
export class ValueError extends TypeError {
  override readonly name = "ValueError";
}

/** A graph cannot be built. */
export class GraphError extends Error {
  override readonly name = "GraphError";
}

/** Facts about an execution that did not succeed. */
export interface ExecutionFailure {
  /** Name of the execution. */
  readonly execution: string;
  readonly phase: "FAILED" | "ABORTED" | "TIMED_OUT";
  /** Origin of the error: the code of a task, or the platform. */
  readonly kind: "USER" | "SYSTEM" | "UNKNOWN";
  /** Code such as `USER:TypeError`; empty for an abort. */
  readonly code: string;
  /** Node that failed, such as `n0`, if it is known. */
  readonly node: string | undefined;
}

/** An execution ended without success. */
export class ExecutionFailed extends Error implements ExecutionFailure {
  override readonly name = "ExecutionFailed";
  readonly execution: string;
  readonly phase: ExecutionFailure["phase"];
  readonly kind: ExecutionFailure["kind"];
  readonly code: string;
  readonly node: string | undefined;

  constructor(message: string, failure: ExecutionFailure) {
    super(message);
    ({ execution: this.execution, phase: this.phase, kind: this.kind, code: this.code, node: this.node } = failure);
  }
}
