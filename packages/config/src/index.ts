export { ConfigError, loadConfig, type ConfigSources } from "./load.js";
