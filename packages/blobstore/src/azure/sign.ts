import type * as Sdk from "@azure/storage-blob";
import type { AzureAccount } from "./azure-account.js";

/** Tolerated difference between clocks, ms. */
const SKEW_MS = 5 * 60_000;
/** Lifetime of a delegation key, ms; the service allows a week. */
const KEY_MS = 24 * 3_600_000;
const WEEK_MS = 7 * 24 * 3_600_000;

export interface SignInput {
  readonly container: string;
  readonly key: string;
  readonly permissions: "r" | "c" | "cw";
  readonly expiresInSeconds: number;
}

/** Signs addresses with the account key, or with a cached user delegation key. */
export class AzureSigner {
  #delegated: { readonly key: Promise<Sdk.UserDelegationKey>; readonly until: number } | undefined;

  constructor(
    private readonly sdk: typeof Sdk,
    private readonly service: Sdk.BlobServiceClient,
    private readonly account: AzureAccount,
    private readonly now: () => number,
  ) {}

  /** Returns the signature as the query of a URL. */
  async sign({ container, key, permissions, expiresInSeconds }: SignInput): Promise<string> {
    const { BlobSASPermissions, generateBlobSASQueryParameters, SASProtocol, StorageSharedKeyCredential } = this.sdk;
    const expires = this.now() + Math.round(expiresInSeconds) * 1_000;
    const values = {
      containerName: container,
      blobName: key,
      permissions: BlobSASPermissions.parse(permissions),
      startsOn: new Date(this.now() - SKEW_MS),
      expiresOn: new Date(expires),
      protocol: this.account.publicEndpoint.startsWith("https:") ? SASProtocol.Https : SASProtocol.HttpsAndHttp,
    };
    const { name, key: accountKey } = this.account;
    const signature =
      accountKey === undefined
        ? generateBlobSASQueryParameters(values, await this.#delegatedKey(expires), name)
        : generateBlobSASQueryParameters(values, new StorageSharedKeyCredential(name, accountKey));
    return signature.toString();
  }

  async #delegatedKey(until: number): Promise<Sdk.UserDelegationKey> {
    if (this.#delegated === undefined || this.#delegated.until < until) {
      const now = this.now();
      const last = Math.min(Math.max(until, now + KEY_MS), now - SKEW_MS + WEEK_MS);
      const delegated = { key: this.service.getUserDelegationKey(new Date(now - SKEW_MS), new Date(last)), until: last };
      this.#delegated = delegated;
      delegated.key.catch(() => {
        if (this.#delegated === delegated) this.#delegated = undefined;
      });
    }
    return this.#delegated.key;
  }
}
