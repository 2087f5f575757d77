import type { PlatformDeps } from "../platform/index.js";
import type { IdentityConfig } from "./config.js";

export interface IdentityDeps extends PlatformDeps {
  readonly config: IdentityConfig;
}
