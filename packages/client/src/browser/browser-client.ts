export { readFrames } from "./frame-reader.js";
export { createRestClient, pathOf, type RestCall, type RestClient, type RestClientOptions } from "./rest-client.js";
export { RestError } from "./rest-error.js";
export { type LiveState, reconnectDelayMs, type Resumable, resumeStream, type ResumeStreamOptions } from "./resume.js";
