/**
 * Names of log fields, the same in every service, so that one query finds all lines about an
 * execution.
 */
export interface LogFields {
  /** `project/domain/name`. */
  readonly execution?: string;
  /** `namespace/name` of the FlyteWorkflow resource; its name is that of the execution. */
  readonly workflow?: string;
  /** Unique id of the node, as in node executions. */
  readonly node?: string;
  /** Number of the attempt, from 0. */
  readonly attempt?: number;
  /** Name of the object that the attempt creates. */
  readonly object?: string;
  readonly error?: string;
}
