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
