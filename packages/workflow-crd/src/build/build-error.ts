/**
 * The compiled closure or a setting of an execution cannot be converted to a resource; permanent.
 */
export class WorkflowBuildError extends Error {
  override readonly name = "WorkflowBuildError";

  constructor(
    /** Place in the closure or the input, as a path of field names. */
    readonly path: string,
    rule: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${rule}`, options);
  }
}
