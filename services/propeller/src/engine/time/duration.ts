import { goDuration as ofNanoseconds } from "@flyte-ts/domain";

/** Milliseconds as Go prints a duration (`1h0m0s`, `8s`, `1.5s`, `500ms`): error texts show deadlines so. */
export function goDuration(ms: number): string {
  return ofNanoseconds(BigInt(Math.round(ms * 1e6)));
}
