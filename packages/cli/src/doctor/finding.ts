/** Result of one check. */
export interface Finding {
  /** Subject of the check. */
  readonly subject: string;
  /** `warning`: works now, but will cause trouble. */
  readonly severity: "ok" | "warning" | "error";
  readonly detail: string;
  /** Remedy, unless the check passed. */
  readonly hint?: string;
}

export const passed = (subject: string, detail: string): Finding => ({ subject, severity: "ok", detail });
export const warning = (subject: string, detail: string, hint: string): Finding => ({ subject, severity: "warning", detail, hint });
export const failed = (subject: string, detail: string, hint: string): Finding => ({ subject, severity: "error", detail, hint });

/** Clock skew above this makes signed requests, tokens and Leases fail eventually, ms. */
const MAX_CLOCK_SKEW_MS = 2_000;

/**
 * @param differenceMs time by which the other clock is ahead; `uncertaintyMs` is the error of
 *   that measurement
 */
export function clockFinding(subject: string, differenceMs: number, uncertaintyMs: number): Finding {
  const seconds = (Math.abs(differenceMs) / 1_000).toFixed(1);
  if (Math.abs(differenceMs) - uncertaintyMs <= MAX_CLOCK_SKEW_MS)
    return passed(`${subject}: clock`, `differs by no more than ${seconds} s`);
  const side = differenceMs > 0 ? "ahead" : "behind";
  return warning(
    `${subject}: clock`,
    `${seconds} s ${side} of this machine's`,
    "synchronize both clocks with NTP: signatures, tokens and Leases depend on them",
  );
}

/** The innermost reason of an error, in one line. */
export function rootCauseMessage(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error && inner.cause.message !== "") inner = inner.cause;
  const text = inner instanceof Error ? inner.message || inner.name : String(inner);
  return text.replaceAll(/\s+/g, " ").trim();
}
