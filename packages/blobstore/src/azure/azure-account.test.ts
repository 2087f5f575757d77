import { expect, test } from "vitest";
import { azureAccount } from "./azure-account.js";

const CONNECTION = "DefaultEndpointsProtocol=https;AccountName=one;AccountKey=a2V5==;EndpointSuffix=core.chinacloudapi.cn";

test.each([
  [{ account: "one" }, {}, { name: "one", endpoint: "https://one.blob.core.windows.net" }],
  [{ account: "one", accountKey: "k", endpoint: "https://x/" }, {}, { name: "one", endpoint: "https://x", key: "k" }],
  [{}, { AZURE_STORAGE_ACCOUNT_NAME: "one", AZURE_STORAGE_ACCOUNT_KEY: "k" }, { name: "one", key: "k" }],
  [{}, { AZURE_STORAGE_ACCOUNT: "one", AZURE_STORAGE_KEY: "k" }, { name: "one", key: "k" }],
  [{}, { AZURE_STORAGE_CONNECTION_STRING: CONNECTION }, { name: "one", endpoint: "https://one.blob.core.chinacloudapi.cn", key: "a2V5==" }],
  [
    {},
    { AZURE_STORAGE_CONNECTION_STRING: "AccountName=one;AccountKey=k;BlobEndpoint=http://127.0.0.1:10000/one" },
    { endpoint: "http://127.0.0.1:10000/one" },
  ],
])("the settings %j with the environment %j select an account", (config, env, account) => {
  expect(azureAccount(config, env, "abfs://c/k")).toMatchObject(account);
});

test("neither the key nor the address of another account is used", () => {
  const env = { AZURE_STORAGE_CONNECTION_STRING: CONNECTION, AZURE_STORAGE_ACCOUNT_NAME: "one", AZURE_STORAGE_ACCOUNT_KEY: "k" };
  const account = azureAccount({ account: "two", accountKey: "" }, env, "abfs://c/k");
  expect(account).toEqual({
    name: "two",
    endpoint: "https://two.blob.core.windows.net",
    publicEndpoint: "https://two.blob.core.windows.net",
  });
});

test("a missing account is an error that names the setting", () => {
  expect(() => azureAccount({}, {}, "abfs://c/k")).toThrow("abfs://c/k: no Azure storage account is configured: set storage.azure.account");
});
