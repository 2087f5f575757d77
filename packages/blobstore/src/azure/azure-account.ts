import { BlobError } from "../errors.js";

export interface AzureConfig {
  /** Name of the storage account. Absent: the environment's. */
  readonly account?: string | undefined;
  /**
   * Key of the account. Absent: the environment's, else the identity of the pod or the user
   * (Microsoft Entra).
   */
  readonly accountKey?: string | undefined;
  /**
   * Address of the account's blob service. Absent: the public cloud's,
   * `https://ACCOUNT.blob.core.windows.net`.
   */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Maximum number of concurrent requests; further ones are queued. Default 64. */
  readonly maxConnections?: number | undefined;
}

/** A storage account and its address. */
export interface AzureAccount {
  readonly name: string;
  /** Address of its blob service, without a trailing slash. */
  readonly endpoint: string;
  readonly publicEndpoint: string;
  /** Absent: requests carry a token of the identity. */
  readonly key?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Selects the account: from the configuration, else from the variables of Azure's tools and of
 * adlfs, which flytekit uses: `AZURE_STORAGE_CONNECTION_STRING`, `AZURE_STORAGE_ACCOUNT_NAME` (or
 * `AZURE_STORAGE_ACCOUNT`), `AZURE_STORAGE_ACCOUNT_KEY` (or `AZURE_STORAGE_KEY`). A key of another
 * account is not used.
 *
 * @throws BlobError when no account is named.
 */
export function azureAccount(config: AzureConfig, env: Environment, uri: string): AzureAccount {
  const connection = parseConnectionString(env["AZURE_STORAGE_CONNECTION_STRING"] ?? "");
  const fromEnvironment = env["AZURE_STORAGE_ACCOUNT_NAME"] || env["AZURE_STORAGE_ACCOUNT"];
  const name = config.account || connection["AccountName"] || fromEnvironment;
  if (!name) throw new BlobError(uri, "no Azure storage account is configured: set storage.azure.account or AZURE_STORAGE_ACCOUNT_NAME");
  const matchingConnection = connection["AccountName"] === name ? connection : {};
  const environmentKey =
    fromEnvironment === undefined || fromEnvironment === name ? env["AZURE_STORAGE_ACCOUNT_KEY"] || env["AZURE_STORAGE_KEY"] : undefined;
  const key = config.accountKey || matchingConnection["AccountKey"] || environmentKey;
  const { DefaultEndpointsProtocol: protocol = "https", EndpointSuffix: suffix = "core.windows.net", BlobEndpoint } = matchingConnection;
  const endpoint = (config.endpoint || BlobEndpoint || `${protocol}://${name}.blob.${suffix}`).replace(/\/+$/, "");
  return { name, endpoint, publicEndpoint: (config.publicEndpoint || endpoint).replace(/\/+$/, ""), ...(key && { key }) };
}

/** Parses `Name=value;…`; values may contain equals signs. */
function parseConnectionString(text: string): Readonly<Record<string, string | undefined>> {
  const pairs = text.split(";").map((pair) => [pair.slice(0, pair.indexOf("=")).trim(), pair.slice(pair.indexOf("=") + 1).trim()]);
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}
