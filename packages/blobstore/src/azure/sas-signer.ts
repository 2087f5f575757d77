import type * as Sdk from "@azure/storage-blob";
import type { AzureAccount } from "./azure-account.js";

/** Tolerated difference between clocks, ms. */
const CLOCK_SKEW_MS = 5 * 60_000;
/** Lifetime of a delegation key, ms; the service allows a week. */
const DELEGATION_KEY_TTL_MS = 24 * 3_600_000;
const MAX_DELEGATION_KEY_TTL_MS = 7 * 24 * 3_600_000;

export interface SasRequest {
  readonly container: string;
  readonly key: string;
  readonly permissions: "r" | "c" | "cw";
  readonly expiresInSeconds: number;
}

/** Signs addresses with the account key, or with a cached user delegation key. */
export class SasSigner {
  #cachedKey: { readonly key: Promise<Sdk.UserDelegationKey>; readonly until: number } | undefined;

  constructor(
    private readonly sdk: typeof Sdk,
    private readonly service: Sdk.BlobServiceClient,
    private readonly account: AzureAccount,
    private readonly now: () => number,
  ) {}

  /** Returns the signature as the query of a URL. */
  async sign({ container, key, permissions, expiresInSeconds }: SasRequest): Promise<string> {
    const { BlobSASPermissions, generateBlobSASQueryParameters, SASProtocol, StorageSharedKeyCredential } = this.sdk;
    const expiresAt = this.now() + Math.round(expiresInSeconds) * 1_000;
    const values = {
      containerName: container,
      blobName: key,
      permissions: BlobSASPermissions.parse(permissions),
      startsOn: new Date(this.now() - CLOCK_SKEW_MS),
      expiresOn: new Date(expiresAt),
      protocol: this.account.publicEndpoint.startsWith("https:") ? SASProtocol.Https : SASProtocol.HttpsAndHttp,
    };
    const { name, key: accountKey } = this.account;
    const signature =
      accountKey === undefined
        ? generateBlobSASQueryParameters(values, await this.#delegatedKey(expiresAt), name)
        : generateBlobSASQueryParameters(values, new StorageSharedKeyCredential(name, accountKey));
    return signature.toString();
  }

  async #delegatedKey(neededUntil: number): Promise<Sdk.UserDelegationKey> {
    if (this.#cachedKey === undefined || this.#cachedKey.until < neededUntil) {
      const now = this.now();
      const expiresAt = Math.min(Math.max(neededUntil, now + DELEGATION_KEY_TTL_MS), now - CLOCK_SKEW_MS + MAX_DELEGATION_KEY_TTL_MS);
      const cached = { key: this.service.getUserDelegationKey(new Date(now - CLOCK_SKEW_MS), new Date(expiresAt)), until: expiresAt };
      this.#cachedKey = cached;
      cached.key.catch(() => {
        if (this.#cachedKey === cached) this.#cachedKey = undefined;
      });
    }
    return this.#cachedKey.key;
  }
}
