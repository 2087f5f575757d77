import { goDuration as ofNanoseconds } from "@flyte-ts/domain/duration";

/**
 * Formats milliseconds as a Go duration (`1h0m0s`, `8s`, `1.5s`, `500ms`), for deadlines in error
 * texts.
 */
export function goDuration(ms: number): string {
  return ofNanoseconds(BigInt(Math.round(ms * 1e6)));
}
