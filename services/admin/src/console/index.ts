export { type ConsoleConfig, consoleSettings } from "./config.js";
export { consoleRoutes } from "./routes.js";
