// The program of a plugin service
export { type StartedService, startService, type StartServiceOptions } from "./service/start-service.js";
export { type PluginContext, servePlugin, type ServePluginOptions } from "./service/serve-plugin.js";
