import { expect, test } from "vitest";
import { chooseEncoding } from "./accepted-encoding.js";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["GZIP", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["gzip; q=0.5 , br ; q=0.8", "br"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0, gzip;q=0.000", undefined],
  ["*", "br"],
  ["*;q=0", undefined],
  ["*;q=0.1, br;q=0", "gzip"],
  ["identity;q=0.5, gzip;q=0.2", undefined],
  ["identity;q=0.5, gzip;q=0.5", "gzip"],
  ["identity;q=0, gzip;q=0.1", "gzip"],
  ["gzip;q=nonsense", "gzip"],
  ["gzip;q=7", "gzip"],
  [",,;q=1,", undefined],
])("Accept-Encoding %j chooses %j", (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
});
