import { expect, test } from "vitest";
import { canonicalRequest, hmacHex, signingKey, stringToSign } from "./signature.js";

// Examples from the S3 documentation, "Signature Calculations for the Authorization Header".
const scope = { day: "20130524", region: "us-east-1", service: "s3" };
const time = "20130524T000000Z";
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const key = signingKey("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope);

test.each([
  [
    "an object's range",
    { method: "GET", path: "/test.txt", query: [], headers: { range: "bytes=0-9" }, payloadHash: empty },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "a put with a key to encode",
    {
      method: "PUT",
      path: "/test$file.text",
      query: [],
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      payloadHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    },
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "a parameter without a value",
    { method: "GET", path: "/", query: [["lifecycle", ""]], headers: {}, payloadHash: empty },
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "parameters out of order",
    {
      method: "GET",
      path: "/",
      query: [
        ["prefix", "J"],
        ["max-keys", "2"],
      ],
      headers: {},
      payloadHash: empty,
    },
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
] as const)("%s has the documented signature", (_name, { headers, payloadHash, ...request }, expected) => {
  const all = new Map(
    Object.entries({ ...headers, host: "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": payloadHash, "x-amz-date": time }),
  );
  const canonical = canonicalRequest({ ...request, headers: all, signedHeaders: [...all.keys()].toSorted(), payloadHash });
  expect(hmacHex(key, stringToSign(time, scope, canonical))).toBe(expected);
});
