import type { PlatformDeps } from "../platform/index.js";
import type { RegistryConfig } from "./config.js";
import type { CompilerWorker } from "./workflow/compiler/compiler-worker.js";

export interface RegistryDeps extends PlatformDeps {
  readonly config: RegistryConfig;
  /** Compiles large workflows; default: compiles on the main thread. */
  readonly compilerWorker?: Pick<CompilerWorker, "compile">;
  /**
   * Called after a change of a project, or of attributes, that cluster resources are rendered from.
   * Default: none.
   */
  readonly onScopeChanged?: (scope: ScopeChange) => Promise<void>;
}

/** A project, or one of its domains, that has changed. */
export interface ScopeChange {
  readonly project: string;
  readonly domain?: string;
}
