import { expect, test } from "vitest";
import { requestHeaders } from "./request-headers.js";

const files: Record<string, string> = { "/token": "first\n", "/tenant": "blue\n" };
const read = (path: string) => {
  const text = files[path];
  return text === undefined ? Promise.reject(Object.assign(new Error("secret path"), { code: "ENOENT" })) : Promise.resolve(text);
};
const config = { headers: { team: "a" }, headerFiles: { tenant: "/tenant" }, tokenFile: "/token" };

test("headers and tokens come from the settings and from files, read each time", async () => {
  expect(await requestHeaders(config, read)).toEqual({ team: "a", tenant: "blue", authorization: "Bearer first" });
  files["/token"] = "second";
  expect(await requestHeaders(config, read)).toMatchObject({ authorization: "Bearer second" });
  expect(await requestHeaders({ headers: {}, headerFiles: {}, tokenFile: undefined }, read)).toEqual({});
});

test("a missing file is an error that names the header and no value", async () => {
  await expect(requestHeaders({ ...config, tokenFile: "/none" }, read)).rejects.toMatchObject({
    notSent: true,
    message: "the file /none of the header authorization cannot be read: ENOENT",
  });
});
