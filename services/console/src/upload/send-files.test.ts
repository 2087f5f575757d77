import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { DataApi } from "../api/data-api.js";
import { type PutTarget, sendFiles } from "./send-files.js";

const scope = { project: "p", domain: "d" };

function fakes() {
  const asked: { name: string; folder?: string; md5: string }[] = [];
  const put: [PutTarget, string][] = [];
  const api = {
    createUploadLocation: (_: unknown, { name, folder, md5 }: { name: string; folder?: string; md5: Uint8Array }) => {
      asked.push({ name, ...(folder !== undefined && { folder }), md5: Buffer.from(md5).toString("hex") });
      const nativeUrl = `s3://b/${folder ?? "x"}/${name}`;
      return Promise.resolve({ signedUrl: `https://b/${name}`, nativeUrl, headers: { "Content-MD5": "m", "Content-Length": "9" } });
    },
  } as unknown as DataApi;
  const send = async (files: readonly File[]) => {
    const shares: number[] = [];
    const address = await sendFiles(
      {
        api,
        scope,
        folder: "console-1",
        put: async (target, file, progress) => {
          progress(file.size / 2);
          put.push([target, await file.text()]);
        },
      },
      files,
      (share) => shares.push(share),
      new AbortController().signal,
    );
    return { address, shares, asked, put };
  };
  return { send };
}

const named = (text: string, name: string, path = ""): File => Object.assign(new File([text], name), { webkitRelativePath: path });

test("one file goes to the address of its content, with its MD5", async () => {
  const { address, shares, asked, put } = await fakes().send([named("abcd", "a.csv")]);
  expect(address).toBe("s3://b/x/a.csv");
  expect(asked).toEqual([{ name: "a.csv", md5: createHash("md5").update("abcd").digest("hex") }]);
  expect(put).toEqual([[{ url: "https://b/a.csv", headers: { "Content-MD5": "m" } }, "abcd"]]);
  expect(shares).toEqual([0.5, 1]);
});

test("files of a folder keep their places in it", async () => {
  const { address, asked } = await fakes().send([named("a", "a.csv", "data/a.csv"), named("b", "b.csv", "data/sub/b.csv")]);
  expect(address).toBe("s3://b/console-1");
  expect(asked.map(({ name, folder }) => [name, folder])).toEqual([
    ["a.csv", "console-1"],
    ["sub/b.csv", "console-1"],
  ]);
});
