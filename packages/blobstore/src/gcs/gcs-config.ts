export interface GcsConfig {
  /** Address of the service, as of an emulator or of Private Service Connect; absent: Google's own. */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Requests carry no credentials: for emulators. They are still needed to sign. */
  readonly anonymous?: boolean | undefined;
  /** Key file of a service account. Absent: the environment's credentials (GOOGLE_APPLICATION_CREDENTIALS, metadata server). */
  readonly keyFile?: string | undefined;
  /** Address of the IAM service that signs where there is no key file; absent: Google's own. */
  readonly signingEndpoint?: string | undefined;
  /** Requests at once; more wait. The default is 64. */
  readonly maxConnections?: number | undefined;
}
