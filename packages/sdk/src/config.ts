/** Settings of a project of workflows, in `flyte.config.ts`. */
export interface FlyteConfig {
  readonly project: string;
  readonly domain: string;
  /** Address of the API, such as `localhost:30080`. */
  readonly endpoint?: string;
  /** Modules whose exports are registered, as globs. */
  readonly sources: readonly string[];
  /** Image of the containers. */
  readonly image?: string;
  readonly dockerfile?: string;
  /** Packages that are not bundled; native modules are found without being named. */
  readonly externals?: readonly string[];
  /** Where packages that are not bundled come from. */
  readonly externalsFrom?: "image" | "bundle";
}

/** Checks the types of the settings of a project. */
export function defineConfig(config: FlyteConfig): FlyteConfig {
  return config;
}
