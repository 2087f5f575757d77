/** Kind, origin and code of an error, as Flyte records them. */
export interface ErrorClass {
  readonly code: string;
  /** True lets the server start another attempt. */
  readonly recoverable: boolean;
  readonly origin: "user" | "system";
}

/** Class of failures that another attempt may not meet. */
export const SYSTEM_FAILURE: ErrorClass = { code: "SYSTEM", recoverable: true, origin: "system" };
