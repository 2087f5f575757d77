import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMd5 } from "./md5.js";

test("any stream has the digest of node:crypto", () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 150 }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, (chunks) => {
      const md5 = createMd5();
      const expected = createHash("md5");
      for (const chunk of chunks) {
        md5.update(chunk);
        expected.update(chunk);
      }
      expect(Buffer.from(md5.digest()).toString("hex")).toBe(expected.digest("hex"));
    }),
  );
});
