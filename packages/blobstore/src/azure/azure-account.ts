import { BlobError } from "../errors.js";

export interface AzureConfig {
  /** Name of the storage account. Absent: the environment's. */
  readonly account?: string | undefined;
  /** Key of the account. Absent: the environment's; where that has none either, the identity of the pod or the user (Microsoft Entra). */
  readonly accountKey?: string | undefined;
  /** Address of the account's blob service. Absent: the public cloud's, `https://ACCOUNT.blob.core.windows.net`. */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Requests at once; more wait. The default is 64. */
  readonly maxConnections?: number | undefined;
}

/** A storage account and how it is reached. */
export interface AzureAccount {
  readonly name: string;
  /** Of its blob service, without a slash at the end. */
  readonly endpoint: string;
  readonly publicEndpoint: string;
  /** Absent: requests carry a token of the identity. */
  readonly key?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The account that is meant. The environment's variables are those of Azure's tools and of adlfs, by which flytekit reads and
 * writes: `AZURE_STORAGE_CONNECTION_STRING`, `AZURE_STORAGE_ACCOUNT_NAME` (or `AZURE_STORAGE_ACCOUNT`),
 * `AZURE_STORAGE_ACCOUNT_KEY` (or `AZURE_STORAGE_KEY`). What the configuration says comes first; a key of another account is not used.
 *
 * @throws BlobError when no account is named.
 */
export function azureAccount(config: AzureConfig, env: Environment, uri: string): AzureAccount {
  const connection = parseConnection(env["AZURE_STORAGE_CONNECTION_STRING"] ?? "");
  const named = env["AZURE_STORAGE_ACCOUNT_NAME"] || env["AZURE_STORAGE_ACCOUNT"];
  const name = config.account || connection["AccountName"] || named;
  if (!name) throw new BlobError(uri, "no Azure storage account is configured: set storage.azure.account or AZURE_STORAGE_ACCOUNT_NAME");
  const ofConnection = connection["AccountName"] === name ? connection : {};
  const ofEnvironment = named === undefined || named === name ? env["AZURE_STORAGE_ACCOUNT_KEY"] || env["AZURE_STORAGE_KEY"] : undefined;
  const key = config.accountKey || ofConnection["AccountKey"] || ofEnvironment;
  const { DefaultEndpointsProtocol: protocol = "https", EndpointSuffix: suffix = "core.windows.net", BlobEndpoint } = ofConnection;
  const endpoint = (config.endpoint || BlobEndpoint || `${protocol}://${name}.blob.${suffix}`).replace(/\/+$/, "");
  return { name, endpoint, publicEndpoint: (config.publicEndpoint || endpoint).replace(/\/+$/, ""), ...(key && { key }) };
}

/** `Name=value;…`; values may have equals signs. */
function parseConnection(text: string): Readonly<Record<string, string | undefined>> {
  const pairs = text.split(";").map((pair) => [pair.slice(0, pair.indexOf("=")).trim(), pair.slice(pair.indexOf("=") + 1).trim()]);
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}
