/** Credentials are always those of the environment: a file that GOOGLE_APPLICATION_CREDENTIALS names, or the metadata server's. */
export interface GcsConfig {
  /** Address of the service, as of an emulator or of Private Service Connect; absent: Google's own. */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Requests carry no credentials: for emulators. They are still needed to sign. */
  readonly anonymous?: boolean | undefined;
  /**
   * What stands before the account's name in requests to IAM, which signs where the credentials have no key. Absent: Google's own,
   * `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/`.
   */
  readonly signingEndpoint?: string | undefined;
  /** Requests at once; more wait. The default is 64. */
  readonly maxConnections?: number | undefined;
}
