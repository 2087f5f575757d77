/** A node failed in a local run. The cause is the error of its task. */
export class NodeFailed extends Error {
  override readonly name = "NodeFailed";

  constructor(
    readonly node: string,
    readonly entity: string,
    cause: unknown,
  ) {
    super(`${node} (${entity}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Returns the error of the task behind failed nodes. */
export function rootCause(error: unknown): unknown {
  return error instanceof NodeFailed ? rootCause(error.cause) : error;
}
