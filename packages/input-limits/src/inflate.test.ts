import { deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflateBounded, InflateError } from "./index.js";

const text = Buffer.from("flyte ".repeat(1_000));

test.each(["gzip", "deflate"] as const)("%s data is decompressed up to the limit", async (compression) => {
  const packed = compression === "gzip" ? gzipSync(text) : deflateSync(text);
  expect((await inflateBounded(packed, compression, text.length)).equals(text)).toBe(true);
  await expect(inflateBounded(packed, compression, text.length - 1)).rejects.toMatchObject({ kind: "bytes" });
});

test("an empty message is decompressed", async () => {
  expect(await inflateBounded(gzipSync(""), "gzip", 10)).toHaveLength(0);
});

test("decompression stops at the size in the gzip trailer", async () => {
  const packed = gzipSync(Buffer.alloc(1 << 20));
  packed.writeUInt32LE(100_000, packed.length - 4);
  await expect(inflateBounded(packed, "gzip", 1 << 20)).rejects.toMatchObject({
    kind: "malformed",
    message: expect.stringMatching(/trailer/),
  });
});

test("damaged bytes are rejected", async () => {
  await expect(inflateBounded(Buffer.from("this is not compressed at all"), "deflate", 100)).rejects.toBeInstanceOf(InflateError);
});
