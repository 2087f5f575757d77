import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** True for a valid time: in the years 1 to 9999, as protobuf and RFC 3339 require. */
export function isTime({ seconds, nanos }: Timestamp): boolean {
  return seconds >= -62_135_596_800n && seconds <= 253_402_300_799n && nanos >= 0 && nanos < 1e9;
}
