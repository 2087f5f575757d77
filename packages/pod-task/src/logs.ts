// Links to the logs of pods, and copies of their logs
export { LogArchive, type LogArchiveConfig } from "./logs/log-archive.js";
export { type LogLink, logLinks, type LogSource } from "./logs/log-links.js";
