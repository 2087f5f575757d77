/** Settings of a service: the content of one of its configuration files. */
export type Settings = Readonly<Record<string, unknown>>;

/** Facts of a local stack from which a manifest derives the settings of its service. */
export interface StackFacts {
  /** Address at which the API listens. */
  readonly host: string;
  readonly apiPort: number;
  /** gRPC port of the data catalog. */
  readonly catalogPort: number;
  /** Kubeconfig of the data plane. */
  readonly kubeconfig: string;
  /**
   * True: this machine runs the pods as local processes. False: nodes of another cluster run them.
   */
  readonly runsPods: boolean;
  readonly bucket: string;
  /** Folder of the web console; empty where it has not been built. */
  readonly consoleFolder: string;
  /** Origin of the blob store in signed URLs, which pages of the console reach. */
  readonly blobOrigin: string;
  /** Callers must authenticate. */
  readonly signIn: boolean;
  /** Replicas of this service. */
  readonly replicas: number;
  /** URL template of a pod's log, for people. */
  readonly podLogUri: string;
  /** Environment variables with which a pod reaches the blob store and the API. */
  readonly podEnvironment: Readonly<Record<string, string>>;
  /** Command of copilot as a local process. */
  readonly copilotCommand: readonly string[];
  /** Task types that the other services of the stack run. */
  readonly otherTaskTypes: readonly string[];
  /** Installs the Python packages of a plugin, whose name is the last argument, for local pods. */
  readonly pythonInstall: { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> };
}

/** Facts of a docker compose project that are known only when its secrets have been generated. */
export interface ComposeFacts {
  /** URL template of a pod's log, for people. It carries a secret. */
  readonly podLogUri: string;
}
