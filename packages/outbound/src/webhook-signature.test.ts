import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { isSignedBy, secretBytes, secretText, signatureHeaders } from "./webhook-signature.js";

const bytes = Buffer.from("0123456789abcdef0123456789abcdef");
const message = { id: "msg_1", timestamp: 1_700_000_000, body: '{"a":1}' };

test("the signature and its headers follow Standard Webhooks", () => {
  const headers = signatureHeaders(message, [bytes]);
  const right = createHmac("sha256", bytes).update('msg_1.1700000000.{"a":1}').digest("base64");
  expect(headers).toEqual({ "webhook-id": "msg_1", "webhook-timestamp": "1700000000", "webhook-signature": `v1,${right}` });
  expect(secretText(bytes)).toBe(`whsec_${bytes.toString("base64")}`);
  expect(secretBytes(secretText(bytes))).toEqual(bytes);
  expect(secretBytes("plain")).toEqual(Buffer.from("plain"));
  expect(() => secretBytes("whsec_%")).toThrow("base64");
});

test("a signature by any secret in use is valid only for the signed content", () => {
  const other = Buffer.from("another");
  const signature = signatureHeaders(message, [other, bytes])["webhook-signature"] ?? "";
  expect(isSignedBy(message, signature, [bytes])).toBe(true);
  expect(isSignedBy(message, signature, [Buffer.from("x"), other])).toBe(true);
  expect(isSignedBy(message, signature, [Buffer.from("x")])).toBe(false);
  expect(isSignedBy(message, signature, [])).toBe(false);
  for (const change of [{ id: "msg_2" }, { timestamp: 1 }, { body: '{"a":2}' }]) {
    expect(isSignedBy({ ...message, ...change }, signature, [bytes])).toBe(false);
  }
  for (const header of ["", "v1,", "v1,AAAA", signature.replaceAll("v1,", "v2,"), signature.replaceAll("v1,", "")]) {
    expect(isSignedBy(message, header, [bytes])).toBe(false);
  }
});

test("an id with a dot can be neither signed nor verified", () => {
  expect(() => signatureHeaders({ ...message, id: "msg.1" }, [bytes])).toThrow("dot");
  const signature = createHmac("sha256", bytes).update('msg.1.1700000000.{"a":1}').digest("base64");
  expect(isSignedBy({ ...message, id: "msg.1" }, `v1,${signature}`, [bytes])).toBe(false);
});
