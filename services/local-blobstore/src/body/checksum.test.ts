import fc from "fast-check";
import { expect, test } from "vitest";
import { createChecksum, isChecksumHeader, type ChecksumHeader } from "./checksum.js";

// Check values from the catalogue of CRC algorithms for "123456789"; the hashes are of the same
// text.
test.each([
  ["x-amz-checksum-crc32", "cbf43926"],
  ["x-amz-checksum-crc32c", "e3069283"],
  ["x-amz-checksum-crc64nvme", "ae8b14860a799888"],
  ["x-amz-checksum-sha1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"],
  ["x-amz-checksum-sha256", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"],
] satisfies [ChecksumHeader, string][])("%s", (header, hex) => {
  const checksum = createChecksum(header);
  checksum.update(Buffer.from("123456789"));
  expect(Buffer.from(checksum.digest(), "base64").toString("hex")).toBe(hex);
});

test("the checksum of chunks equals that of the whole", () => {
  const header = fc.constantFrom<ChecksumHeader>(
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-sha1",
  );
  fc.assert(
    fc.property(header, fc.array(fc.uint8Array()), (name, pieces) => {
      const [whole, parts] = [createChecksum(name), createChecksum(name)];
      whole.update(Buffer.concat(pieces));
      for (const piece of pieces) parts.update(piece);
      expect(parts.digest()).toBe(whole.digest());
    }),
  );
});

test("other headers are not checksums", () => {
  expect(["x-amz-checksum-md5", "x-amz-checksum-mode", "constructor"].filter(isChecksumHeader)).toEqual([]);
});
