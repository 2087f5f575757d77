import type { BlobStoreConfig } from "@flyte-ts/blobstore";

/**
 * Access to the blob store, from the variables that flytekit reads too, so that an installation
 * sets them once for its tasks and for the copilot. Without them the SDKs use their own sources:
 * their variables, the service account, the instance.
 */
export function blobStoreConfigFromEnv(env: Readonly<Record<string, string | undefined>>): BlobStoreConfig {
  return {
    s3: {
      endpoint: env["FLYTE_AWS_ENDPOINT"],
      region: env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"],
      accessKeyId: env["FLYTE_AWS_ACCESS_KEY_ID"],
      secretAccessKey: env["FLYTE_AWS_SECRET_ACCESS_KEY"],
    },
    azure: {
      account: env["FLYTE_AZURE_STORAGE_ACCOUNT_NAME"],
      accountKey: env["FLYTE_AZURE_STORAGE_ACCOUNT_KEY"],
    },
  };
}
