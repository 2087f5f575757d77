/** The compiled closure or a setting of an execution cannot become a resource; a retry changes nothing. */
export class WorkflowBuildError extends Error {
  override readonly name = "WorkflowBuildError";

  constructor(
    /** Where in the closure or the input, as a path of field names. */
    readonly path: string,
    rule: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${rule}`, options);
  }
}
