/**
 * Credentials are always those of the environment: a file named by GOOGLE_APPLICATION_CREDENTIALS,
 * or the metadata server's.
 */
export interface GcsConfig {
  /**
   * Address of the service, such as an emulator's or a Private Service Connect endpoint; absent:
   * Google's own.
   */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Send requests without credentials, for emulators. Signing still needs them. */
  readonly anonymous?: boolean | undefined;
  /**
   * Base address of IAM's signing requests, before the account's name; used where the credentials
   * have no key. Absent: Google's own,
   * `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/`.
   */
  readonly signingEndpoint?: string | undefined;
  /** Maximum number of concurrent requests; further ones are queued. Default 64. */
  readonly maxConnections?: number | undefined;
}
