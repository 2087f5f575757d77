/** Result of one check. */
export interface Finding {
  /** Subject of the check. */
  readonly what: string;
  /** `warning`: works now, but will cause trouble. */
  readonly verdict: "well" | "warning" | "ill";
  readonly detail: string;
  /** Remedy, unless the check passed. */
  readonly remedy?: string;
}

export const well = (what: string, detail: string): Finding => ({ what, verdict: "well", detail });
export const warning = (what: string, detail: string, remedy: string): Finding => ({ what, verdict: "warning", detail, remedy });
export const ill = (what: string, detail: string, remedy: string): Finding => ({ what, verdict: "ill", detail, remedy });

/** Clock skew above this makes signed requests, tokens and Leases fail eventually, ms. */
const SKEW_MS = 2_000;

/** @param differenceMs time by which the other clock is ahead; `blurMs` is the error of that measurement */
export function clockFinding(what: string, differenceMs: number, blurMs: number): Finding {
  const seconds = (Math.abs(differenceMs) / 1_000).toFixed(1);
  if (Math.abs(differenceMs) - blurMs <= SKEW_MS) return well(`${what}: clock`, `differs by no more than ${seconds} s`);
  const side = differenceMs > 0 ? "ahead" : "behind";
  return warning(
    `${what}: clock`,
    `${seconds} s ${side} of this machine's`,
    "set both clocks by NTP: signatures, tokens and Leases go by them",
  );
}

/** The innermost reason of an error, in one line. */
export function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error && inner.cause.message !== "") inner = inner.cause;
  const text = inner instanceof Error ? inner.message || inner.name : String(inner);
  return text.replaceAll(/\s+/g, " ").trim();
}
