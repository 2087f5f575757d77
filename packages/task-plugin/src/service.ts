// The program of a plugin service
export { type PluginContext, servePlugin, type ServePluginOptions } from "./service/serve-plugin.js";
