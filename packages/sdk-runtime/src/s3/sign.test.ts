import { expect, test } from "vitest";
import { signRequest } from "./sign.js";

// Examples from the S3 documentation, "Signature Calculations for the Authorization Header".
const KEYS = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

test.each([
  [
    "a part of an object",
    { method: "GET", path: "/test.txt", headers: { range: "bytes=0-9" }, payloadHash: EMPTY },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "an object with a key to encode",
    {
      method: "PUT",
      path: "/test%24file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      payloadHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a parameter without a value",
    { method: "GET", path: "/?lifecycle", headers: {}, payloadHash: EMPTY },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "parameters out of order",
    { method: "GET", path: "/?prefix=J&max-keys=2", headers: {}, payloadHash: EMPTY },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
] as const)("the signature of %s is the documented one", (_name, { method, path, headers, payloadHash }, expected) => {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
  const at = new Date("2013-05-24T00:00:00Z");
  const signed = signRequest({ method, url, headers, payloadHash, region: "us-east-1", at }, KEYS);
  expect(signed["authorization"]).toContain("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request");
  expect(signed["authorization"]).toMatch(new RegExp(`Signature=${expected}$`));
});

test("the token of temporary credentials is sent and signed", () => {
  const url = new URL("https://bucket.s3.amazonaws.com/key");
  const request = { method: "GET", url, headers: {}, payloadHash: EMPTY, region: "eu-west-1", at: new Date() };
  const signed = signRequest(request, { ...KEYS, sessionToken: "temporary" });
  expect(signed["x-amz-security-token"]).toBe("temporary");
  expect(signed["authorization"]).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token");
});
